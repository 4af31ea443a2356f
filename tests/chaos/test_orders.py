"""Many people, one run: fifty who press Compact at once (A17), and one whose screen is out of date (A21)."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.conftest import wait_until

from .conftest import Report
from .house import House, Scaled
from .pressing import Person, Pressed, answered, at_once, people, until

PEOPLE = 50
SLOW_TURN = 9
LLM = f"rehearsal/job-12+slow:400@{SLOW_TURN}"
"""The ninth turn drips in, so that everybody presses while it runs."""


def serving(house: House) -> None:
    """Pages and a worker, in one process or in two."""
    house.start()
    if isinstance(house, Scaled):
        house.web()


def test_fifty_press_compact_at_once_and_one_presses_again_on_an_old_screen(
    either: House, report: Report
) -> None:
    serving(either)
    crowd = people(either, PEOPLE)
    slug = crowd[0].begin(LLM)
    wait_until(lambda: running(either), 60, "the slow turn to run")
    seen = either.one("SELECT next_seq - 1 FROM runs_run")
    pressed = at_once([partial(one.press, slug, "compact", keep=0, seen_seq=seen) for one in crowd])
    still = running(either)
    state, seconds = answered(either, pressed[0], 60)
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A17-{shape}", *one_for_all(either, pressed, still, state, seconds))
    report(f"A21-{shape}", *on_an_old_screen(either, crowd[1], slug, seen))
    until(either, slug, "done")


def running(house: House) -> bool:
    found = house.rows("SELECT 1 FROM runs_turn WHERE status = 'open' AND number = ?", SLOW_TURN)
    return bool(found)


def one_for_all(
    house: House, pressed: list[Pressed], still: bool, state: str, seconds: float
) -> tuple[dict[str, Any], list[str]]:
    edits = house.rows("SELECT state FROM runs_edit WHERE kind = 'compact'")
    numbers = {one.order for one in pressed}
    spread = max(one.at for one in pressed) - min(one.at for one in pressed)
    figure = {
        "people": len(pressed),
        "orders": len(numbers),
        "rows": house.one("SELECT count(*) FROM runs_order WHERE kind = 'compact'"),
        "compactions": len(edits),
        "told_that_it_is_asked_for": sum("already requested by" in one.told["reason"] for one in pressed),
        "pressed_within_s": round(spread, 2),
        "applied_s": round(seconds, 1),
    }
    problems = []
    if not still:
        problems.append("the turn ended before all had pressed: the check shows nothing")
    if {one.status for one in pressed} != {202} or len(pressed) != PEOPLE:
        problems.append(f"not everybody got an answer: {[one.told for one in pressed if one.status != 202]}")
    if len(numbers) != 1 or figure["rows"] != 1:
        problems.append(f"the answers name the orders {numbers}, and {figure['rows']} stand in the table")
    if state != "applied" or [edit[0] for edit in edits] != ["applied"]:
        problems.append(f"the order is {state}, the compactions are {edits}")
    return figure, problems


def on_an_old_screen(house: House, person: Person, slug: str, seen: int) -> tuple[dict[str, Any], list[str]]:
    before = house.rows("SELECT count(*), max(number) FROM runs_version")
    late = person.press(slug, "compact", keep=0, seen_seq=seen)
    until(house, slug, "done")
    figure = {
        "status": late.status,
        "state": late.told["state"],
        "reason": late.told["reason"],
        "versions": house.one("SELECT count(*) FROM runs_version"),
    }
    problems = []
    if (late.status, late.told["state"]) != (409, "rejected"):
        problems.append(f"it was told {late.status}: {late.told}")
    if "the window was compacted at event" not in late.told["reason"]:
        problems.append(f"the reason is no reason: {late.told['reason']}")
    if house.rows("SELECT count(*), max(number) FROM runs_version") != before:
        problems.append("the window was changed")
    return figure, problems
