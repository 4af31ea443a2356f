"""Every state a run can be in, and what it can wait for, × every order, on a house that lives: whatever can be answered
at once is answered within five seconds (A16). What each answer must be to the letter, tests/runner/test_order_table.py
shows cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.conftest import wait_until
from tests.order_table import WANTED

from .conftest import Report
from .house import FULL, House
from .pressing import Person, Pressed, answered, people, until

WITHIN_S = 5.0
EVERY = 1 if FULL else 6
"""Of the orders that a row takes, every so manieth; those it refuses, always all."""

NAPS = "rehearsal/naps-60"
ON_A_CALL = ("approve", "deny", "edit", "answer")
LATER = ("pause", "stop", "say", "compact", "clear")
"""While a turn runs these wait for its end, however long that takes."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """How runs come into a state. `rest`: the states in which they are let alone; `then`: an order that leads on."""

    asked: Mapping[str, Any]
    rest: str
    then: str = ""


def rows(folder: Path) -> dict[str, Row]:
    asks, unsure = folder / "asks.toml", folder / "unsure.toml"
    asks.write_text('[approval]\ntools = ["read_file"]\n')
    unsure.write_text('[approval]\non_unknown = "wait"\n')
    asking = {"llm": "rehearsal/job-9", "policy": str(asks)}
    return {
        "waiting: unknown_outcome": Row(asked={"llm": NAPS, "policy": str(unsure)}, rest="waiting"),
        "waiting: approval": Row(asked=asking, rest="waiting"),
        "waiting: person": Row(asked={"llm": "rehearsal/job-9+refusal@3"}, rest="waiting"),
        "waiting: llm": Row(asked={"llm": "rehearsal/job-9+401:99@3"}, rest="waiting"),
        "waiting: budget": Row(asked={"llm": "rehearsal/job-9", "max_turns": 2}, rest="waiting"),
        "paused in a turn": Row(asked=asking, rest="waiting", then="pause"),
        "paused": Row(asked={"llm": "rehearsal/job-9", "max_turns": 2}, rest="waiting", then="pause"),
        "stopped": Row(asked={"llm": "rehearsal/job-9", "max_turns": 2}, rest="waiting", then="stop"),
        "done": Row(asked={"llm": "rehearsal/job-2"}, rest="done"),
        "failed": Row(asked={"llm": "rehearsal/job-9+400:99@3"}, rest="failed"),
        "running": Row(asked={"llm": "rehearsal/job-9+slow:20@3"}, rest="running"),
    }


def chosen() -> dict[tuple[str, str], list[str]]:
    """A run for each order that its row takes, and one run a row for all that it refuses."""
    cells: dict[tuple[str, str], list[str]] = {}
    for row in rows(Path()):
        wanted = WANTED[row]
        cells[(row, "no")] = [kind for kind, what in wanted.items() if what == "no"]
        taken = [kind for kind, what in wanted.items() if what != "no"]
        answerable = [kind for kind in taken if row != "running" or kind not in LATER]
        cells |= {(row, kind): [kind] for kind in answerable[len(cells) % EVERY :: EVERY]}
    return cells


def test_no_order_waits_longer_than_five_seconds_where_it_can_be_answered(
    house: House, report: Report, tmp_path: Path
) -> None:
    cells, ways, slugs = chosen(), rows(tmp_path), dict[tuple[str, str], str]()
    (ada,) = interrupted(house, {cell for cell in cells if "unknown" in cell[0]}, ways, slugs)
    slugs |= {cell: ada.begin(**ways[cell[0]].asked) for cell in cells if cell not in slugs}
    for (row, _), slug in slugs.items():
        led(house, ada, slug, ways[row])
    pressed = [
        (cell[0], kind, press(ada, slugs[cell], kind)) for cell, kinds in cells.items() for kind in kinds
    ]
    held = [(row, kind, one) for row, kind, one in pressed if WANTED[row][kind] == "pending"]
    given = [one for one in pressed if one not in held]
    seconds = [waited(house, one) for _, _, one in given]
    problems = [
        f"{row}: {kind} is {one.told}" for row, kind, one in held if state_of(house, one) != "pending"
    ]
    problems += [
        f"{row}: {kind} came to {one.told}, and should be {WANTED[row][kind] or 'applied'}"
        for row, kind, one in given
        if (state_of(house, one) == "rejected") != (WANTED[row][kind] == "no")
    ]
    late = sum(one > WITHIN_S for one in seconds)
    figure = {"rows": len(ways), "orders": len(pressed), "most_s": round(max(seconds), 2), "late": late}
    report("A16", figure, problems + [f"{late} orders waited longer than {WITHIN_S} s"] * bool(late))


def interrupted(
    house: House, cells: set[tuple[str, str]], ways: Mapping[str, Row], slugs: dict[tuple[str, str], str]
) -> list[Person]:
    """A house whose process was killed while all of these ran a command; and somebody in the next one."""
    life = house.start()
    (ada,) = people(house, 1)
    slugs |= {cell: ada.begin(**ways[cell[0]].asked) for cell in cells}
    at_it = "SELECT 1 FROM runs_call WHERE status = 'started'"
    wait_until(lambda: len(house.rows(at_it)) == len(cells), 60, "every command to run")
    life.kill()
    house.start()
    return people(house, 1)


def led(house: House, ada: Person, slug: str, way: Row) -> None:
    """To where the row says it rests."""
    if way.rest == "running":
        opened = "SELECT 1 FROM runs_turn t JOIN runs_run r ON r.id = t.run_id WHERE slug = ? AND number = 3"
        wait_until(lambda: house.rows(opened, slug), 60, f"{slug} to be in turn 3")
        return
    until(house, slug, way.rest)
    if way.then:
        ada.press(slug, way.then)
        until(house, slug, "stopped" if way.then == "stop" else "paused")


def press(ada: Person, slug: str, column: str) -> Pressed:
    """The order of a column; a word on a call is on the one that waits, or on none."""
    kind, _, how = column.partition(" ")
    asks = (ada.show(slug)["asks"] if kind in ON_A_CALL else None) or {
        "call": "none",
        "input_sha256": "0" * 64,
    }
    shown = {"call": asks["call"], "input_sha256": asks["input_sha256"]}
    args: dict[str, dict[str, Any]] = {
        "say": {"text": "Mind the umlauts.", "how": how or "steer"},
        "compact": {"keep": 0},
        "approve": shown,
        "deny": {"call": asks["call"]},
        "edit": {**shown, "input": {"path": "pieces/0001.txt"}},
        "answer": {"call": asks["call"], "outcome": "leave"},
    }
    return ada.press(slug, kind, **args.get(kind, {}))


def waited(house: House, one: Pressed) -> float:
    """Seconds from the order's row to its answer's event, by the database's clock."""
    answered(house, one)
    asked, seq, run = house.rows("SELECT at, applied_seq, run_id FROM runs_order WHERE id = ?", one.order)[0]
    if seq is None:
        return 0.0
    at = house.one("SELECT at FROM runs_event WHERE run_id = ? AND seq = ?", run, seq)
    return (datetime.fromisoformat(at) - datetime.fromisoformat(asked)).total_seconds()


def state_of(house: House, one: Pressed) -> str:
    return str(house.one("SELECT state FROM runs_order WHERE id = ?", one.order))
