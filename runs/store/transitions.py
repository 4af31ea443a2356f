"""What becomes of an order: every state of a run × every order, in one table (design.md §6).

The page's buttons and chips, the answer to whoever asks, and the worker that applies orders all read it here. An order
that arrives in the middle of an open turn is never lost: it waits in sight until the turn closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from runs.models import State

from .approvals import KINDS as ON_A_CALL

KINDS = ("pause", "resume", "step", "stop", "stop_now", "say", "compact", "clear", *ON_A_CALL)
ON_THE_WINDOW = ("compact", "clear")
"""A window is worked on when every call of it is answered, never before."""

COLUMNS = (*KINDS, "say queue", "say interrupt")
"""A message that is queued and one that interrupts are orders of their own here."""

IN_A_TURN = " in a turn"
"""Of a state: the llm has answered, and not every call of that answer has its result."""


class When(StrEnum):
    """When an order is applied, in the page's words."""

    NOW = "at once"
    TURN = "after this turn"
    CLOSE = "when the open turn closes"
    STOP = "when the run stops"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """`why`: for NEVER, the sentence that a person reads."""

    when: When
    why: str = ""


_NOW, _TURN, _CLOSE, _STOP = (Cell(when=when) for when in (When.NOW, When.TURN, When.CLOSE, When.STOP))


def _never(why: str) -> Cell:
    return Cell(when=When.NEVER, why=why)


_NO_CALL = dict.fromkeys(ON_A_CALL, _never("no call waits for a word"))
_PERMITS = _never("it is not allowed or refused: its outcome is unknown. Say done, again or leave")
_OUTCOMES = _never("its outcome is not unknown, it has not run: allow it, change it or refuse it")
_HELD = dict.fromkeys(ON_THE_WINDOW, _CLOSE)
_TAKEN = {**dict.fromkeys(COLUMNS, _NOW), **_NO_CALL}
_IDLE = _TAKEN | {"step": _never("only a paused run takes a step, and this one is waiting: pause it first")}
_GOING = _TAKEN | {
    **dict.fromkeys(("pause", "stop", "say", *ON_THE_WINDOW), _TURN),
    "say queue": _STOP,
    "resume": _never("the run is going on already"),
    "step": _never("only a paused run takes a step: pause it first"),
}
_TAKEN_UP = _GOING | {"pause": _NOW, "stop": _NOW, "say": _CLOSE, "say interrupt": _CLOSE, **_HELD}
"""A worker has taken up a turn that another left open: it may leave it, but not write into it."""


def _ended(state: State) -> dict[str, Cell]:
    over = dict.fromkeys(COLUMNS, _never(f"the run is {state}: write to it and it goes on"))
    return over | dict.fromkeys(("say", "say queue", "say interrupt"), _NOW)


TABLE: Mapping[str, Mapping[str, Cell]] = {
    "ready": _GOING,
    "ready in a turn": _TAKEN_UP,
    "running": _GOING,
    "running in a turn": _TAKEN_UP,
    "waiting": _IDLE,
    "waiting in a turn": _IDLE | _HELD,
    "waiting: approval": _IDLE | _HELD | {"approve": _NOW, "deny": _NOW, "edit": _NOW, "answer": _OUTCOMES},
    "waiting: unknown_outcome": _IDLE
    | _HELD
    | {"approve": _PERMITS, "deny": _PERMITS, "edit": _PERMITS, "answer": _NOW},
    "paused": _TAKEN,
    "paused in a turn": _TAKEN | _HELD,
    "done": _ended(State.DONE),
    "failed": _ended(State.FAILED) | {"resume": _NOW},
    "stopped": _ended(State.STOPPED),
}
"""A run's standing × an order. What a run waits for has a row of its own where it differs from `waiting`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a run stands. `in_turn`: an answered turn of it is open."""

    state: str
    reason: str = ""
    in_turn: bool = False

    @property
    def row(self) -> str:
        """The first that the table knows: what it waits for, in a turn, the bare state."""
        own = f"{self.state}: {self.reason.partition(':')[0]}"
        rows = [own, *([self.state + IN_A_TURN] if self.in_turn else []), self.state]
        return next(row for row in rows if row in TABLE)

    def takes(self, kind: str, how: str = "") -> Cell:
        """What becomes of this order here; `how`: of a message, steer, queue or interrupt."""
        column = f"{kind} {how}" if f"{kind} {how}" in COLUMNS else kind
        unknown = _never(f"agentdash knows no order {kind!r}")
        return TABLE[self.row].get(column, unknown)
