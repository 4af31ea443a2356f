"""What stories say over and over: begin a run, wait for what becomes of it, look at its events."""

from __future__ import annotations

from typing import Any

from agentdash.door import local
from runs import control
from runs.models import ENDED, Event, Run
from tests.conftest import wait_until

PAGE_SECONDS = 20


def begin(llm: str = "rehearsal/hello", *, pace: str = "fast", **asked: Any) -> Run:
    """A run of Ada's, as the New run form starts it."""
    goal = asked.pop("goal", "Find out why the shop sold more lamps than it had.")
    return control.start(local(), control.Start(goal=goal, llm=llm, pace=pace, **asked))


def until(run: Run, *states: str, seconds: float = 60) -> Run:
    """The run once it is in one of these states. A run that ended otherwise fails at once."""

    def there() -> bool:
        run.refresh_from_db()
        assert run.state in states or run.state not in ENDED, f"{run.slug} is {run.state}: {run.reason}"
        return run.state in states

    wait_until(there, seconds, f"{run.slug} to be {' or '.join(states)}")
    return run


def until_turn(run: Run, turn: int, seconds: float = 60) -> Run:
    """The run once this turn is closed."""
    wait_until(lambda: happened(run, "turn.closed", turn), seconds, f"turn {turn} of {run.slug}")
    run.refresh_from_db()
    return run


def happened(run: Run, kind: str, turn: int | None = None) -> list[Event]:
    """Events of a kind, oldest first; of one turn if told so."""
    found = Event.objects.filter(run=run, kind=kind).order_by("seq")
    return list(found if turn is None else found.filter(turn=turn))


def path(run: Run, rest: str = "") -> str:
    return f"/runs/{run.slug}/{rest}"
