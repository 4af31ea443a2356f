"""Valves: turns, dollars, tokens and minutes, counted before each call. Reached: the run waits for a person.

A person who lets it go on opens the valve that is reached: to twice what it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BudgetSpent
from ..events import Event, ValveReached
from ..policy import Policy
from ..window.versions import Window
from .base import Desk, Technique


class Valves(Technique):
    name = "valves"

    def before_call(self, window: Window) -> Iterator[Event]:
        for which, used, limit in reached(self.desk):
            yield ValveReached(turn=self.desk.turn, which=which)
            spent = f"{_amount(which, used)} of {_amount(which, limit)}"
            more = f"Resume opens this valve to {_amount(which, _opened(which, used, limit))}"
            raise BudgetSpent(f"The run has used {spent}. {more}; or stop the run.")


def reached(desk: Desk) -> list[tuple[str, float, float]]:
    """The valves that are reached: name, what was used, what the policy allows."""
    spent, policy = desk.spent, desk.policy.valves
    minutes = (desk.clock.now_ms() - spent.started_ms) / 60_000 if spent.started_ms else 0.0
    valves = [
        ("turns", spent.turns, policy.turns),
        ("usd", spent.cost / 1_000_000, policy.usd),
        ("tokens", spent.tokens, policy.tokens),
        ("minutes", minutes, policy.minutes),
    ]
    return [(which, used, limit) for which, used, limit in valves if limit and used >= limit]


def opened(desk: Desk) -> Policy | None:
    """The policy with every valve that is reached opened; None when none is."""
    found = {which: _opened(which, used, limit) for which, used, limit in reached(desk)}
    return desk.policy.changed(valves=found) if found else None


def _opened(which: str, used: float, limit: float) -> float:
    """Twice the limit, and more where even that is used up: one word of a person is enough to go on."""
    wide = limit * 2
    while wide <= used:
        wide *= 2
    return wide if which == "usd" else int(wide)


def _amount(which: str, value: float) -> str:
    return f"${value:,.2f}" if which == "usd" else f"{value:,.0f} {which}"
