"""Stop now, from wherever a run may be: it is cancelled within a second, nothing survives, and it can go on (A19)."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import wait_until

from .between import Between
from .conftest import Report
from .house import House, size
from .pressing import Person, answered, people, until
from .servers import free_port
from .viewer import PAUSE

TIMES = size(1, 20)
WITHIN_S = 1.0
ASKS = '[approval]\ntools = ["run_command"]\n'


@pytest.fixture
def between(house: House) -> Iterator[Between]:
    """A model server of its own that types like a person, and the wire to it."""
    port = free_port()
    server = house.run("rehearse", "--port", str(port), "--pace", "human")
    wait_until(lambda: "ANTHROPIC_BASE_URL" in server.output, 60, "the model server")
    made = Between(port)
    house.extra["ANTHROPIC_BASE_URL"] = made.address
    yield made
    made.close()


@pytest.fixture
def policy(tmp_path: Path) -> str:
    file = tmp_path / "asks.toml"
    file.write_text(ASKS)
    return str(file)


def test_stop_now_works_from_everywhere(house: House, between: Between, policy: str, report: Report) -> None:
    house.start()
    (ada,) = people(house, 1)
    figure: dict[str, Any] = {}
    problems: list[str] = []
    ways: dict[str, Callable[[], str]] = {
        "streaming": lambda: streaming(house, ada),
        "hung": lambda: hung(house, ada, between),
        "back_off": lambda: backing_off(house, ada),
        "tool": lambda: in_a_tool(house, ada, policy),
        "approval": lambda: asking(house, ada, policy),
    }
    went_on = left = 0
    every: list[float] = []
    for name, begun in ways.items():
        tries = [stopped(house, ada, begun(), between, name) for _ in range(TIMES)]
        figure[f"{name}_s"] = round(max(seconds for _, seconds, _ in tries), 2)
        every += [seconds for _, seconds, _ in tries]
        left += sum(survivors for _, _, survivors in tries)
        goes = sum(goes_on(house, ada, slug) for slug, _, _ in tries)
        went_on += goes == TIMES
        problems += [f"{name}: {TIMES - goes} of {TIMES} did not go on"] * (goes < TIMES)
    p95 = sorted(every)[max(0, round(0.95 * len(every)) - 1)] if TIMES > 1 else max(every)
    figure |= {"p95_s": round(p95, 2), "survivors": left, "went_on": f"{went_on}/{len(ways)}", "times": TIMES}
    problems += [f"p95 is {p95:.2f} s"] * (p95 > WITHIN_S) + [f"{left} processes survived"] * bool(left)
    report("A19", figure, problems)


def stopped(house: House, ada: Person, slug: str, between: Between, name: str) -> tuple[str, float, int]:
    """The run, the seconds until the last of it was over (the line to the llm, the processes, the answer), and how
    many processes live on."""
    pressed = ada.press(slug, "stop_now")
    told, seconds = answered(house, pressed)
    assert told == "applied", told
    assert until(house, slug, "stopped")
    if name in ("streaming", "hung"):
        seconds = max(seconds, wait_until(lambda: between.after(pressed.at), 20, "the line to be hung up"))
    return slug, seconds, len(sleepers(slug))


def goes_on(house: House, ada: Person, slug: str) -> bool:
    """A word takes it up again: the llm is asked once more, accepts what it is sent, and answers."""
    before = answers(house, slug)
    ada.press(slug, "say", text="Go on.")
    wait_until(lambda: answers(house, slug) > before, 60, f"{slug} to go on")
    ada.press(slug, "stop_now")
    until(house, slug, "stopped", "done")
    return not house.rows(
        "SELECT 1 FROM runs_event e JOIN runs_run r ON r.id = e.run_id "
        "WHERE r.slug = ? AND e.kind = 'run.state' AND e.data LIKE '%failed%'",
        slug,
    )


def answers(house: House, slug: str) -> int:
    return int(
        house.one(
            "SELECT count(*) FROM runs_event e JOIN runs_run r ON r.id = e.run_id "
            "WHERE r.slug = ? AND e.kind = 'turn.answered'",
            slug,
        )
    )


def happens(house: House, slug: str, kind: str) -> None:
    query = "SELECT 1 FROM runs_event e JOIN runs_run r ON r.id = e.run_id WHERE r.slug = ? AND e.kind = ?"
    wait_until(lambda: house.rows(query, slug, kind), 60, f"{kind} in {slug}")


def streaming(house: House, ada: Person) -> str:
    """Its answer is being typed."""
    slug = ada.begin("orders")
    happens(house, slug, "turn.opened")
    PAUSE.wait(random.uniform(0.3, 0.9))
    return slug


def hung(house: House, ada: Person, between: Between) -> str:
    """The server has said nothing for a while, and the line stands."""
    before = between.lines
    slug = ada.begin("hello+hang:0@1")
    happens(house, slug, "turn.opened")
    PAUSE.wait(0.5)
    assert between.lines >= before
    return slug


def backing_off(house: House, ada: Person) -> str:
    """It waits before it tries again."""
    slug = ada.begin("hello+529:3@1")
    happens(house, slug, "llm.retry")
    return slug


def asking(house: House, ada: Person, policy: str) -> str:
    """A command waits for a word."""
    slug = ada.begin("naps", policy=policy)
    until(house, slug, "waiting")
    return slug


def in_a_tool(house: House, ada: Person, policy: str) -> str:
    """A command whose children have left its group, each in a session of its own."""
    slug = asking(house, ada, policy)
    asks = ada.show(slug)["asks"]
    nap = f"bash -c 'exec -a nap-{slug} sleep 300'"
    command = f"setsid {nap} & (setsid {nap} &); {nap}"
    ada.press(slug, "edit", call=asks["call"], input_sha256=asks["input_sha256"], input={"command": command})
    wait_until(lambda: len(sleepers(slug)) >= 3, 60, "the command and its children")
    return slug


def sleepers(slug: str) -> list[int]:
    """Processes that bear the run's name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(f"nap-{slug}".encode()):
                found.append(int(path.parent.name))
    return found
