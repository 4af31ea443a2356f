"""Valves: turns, dollars, tokens and minutes, counted before each call. Reached: the run waits for a person."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BudgetSpent
from ..events import Event, ValveReached
from ..window.versions import Window
from .base import Technique


class Valves(Technique):
    name = "valves"

    def before_call(self, window: Window) -> Iterator[Event]:
        for which, used, limit in self._valves():
            if limit and used >= limit:
                yield ValveReached(turn=self.desk.turn, which=which)
                spent = f"{_amount(which, used)} of {_amount(which, limit)}"
                raise BudgetSpent(f"The run has used {spent}. Raise the valve.")

    def _valves(self) -> list[tuple[str, float, float]]:
        spent, policy = self.desk.spent, self.desk.policy.valves
        minutes = (self.desk.clock.now_ms() - spent.started_ms) / 60_000 if spent.started_ms else 0.0
        return [
            ("turns", spent.turns, policy.turns),
            ("usd", spent.cost / 1_000_000, policy.usd),
            ("tokens", spent.tokens, policy.tokens),
            ("minutes", minutes, policy.minutes),
        ]


def _amount(which: str, value: float) -> str:
    return f"${value:,.2f}" if which == "usd" else f"{value:,.0f} {which}"
