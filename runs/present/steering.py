"""What a person can ask of a run now, what waits to be applied, and how an answer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.models import ENDED, Edit, Order, Run
from runs.store import orders
from runs.store.transitions import When, Where

from . import numbers
from .text import first_words

ICONS = {
    "say": "arrow",
    "pause": "pause",
    "resume": "play",
    "step": "step",
    "stop": "stop",
    "stop_now": "bolt",
    "compact": "compact",
    "clear": "clear",
    "approve": "tick",
    "deny": "cross",
    "edit": "pencil",
    "answer": "hand",
}
RULES = {"steer": "at the next safe point, after this reply", "interrupt": "at once, the reply is cut"}
"""What a message says instead of the table's words while the llm answers."""

SAYS = {"steer": "Steer", "queue": "Queued", "interrupt": "Interrupt"}
DONE = {
    "pause": "Paused",
    "resume": "Goes on",
    "step": "Stepped",
    "stop": "Stopped",
    "stop_now": "Stopped at once",
    "compact": "Compacted",
    "clear": "Window cleared",
    "say": "Delivered",
    "approve": "Allowed",
    "deny": "Refused",
    "edit": "Allowed with another input",
    "answer": "Outcome noted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The buttons. `…_off`: why one is off, '' while it works. `resume`: the word on it, '' where it says Pause."""

    resume: str
    pause_off: str
    step_off: str
    stop_off: str
    window_off: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An order that waits. `rule` says when it is applied."""

    id: int
    icon: str
    word: str
    said: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The one answer to an order. `edit`: the number of the edit it made, 0 for none."""

    id: int
    css: str
    icon: str
    title: str
    detail: str
    edit: int = 0


def controls(run: Run) -> Controls:
    over = f"The run is {run.state}." if run.state in ENDED else ""
    here = Where(state=run.state, reason=run.reason)
    resume = {"paused": "Resume", "waiting": "Resume", "failed": "Retry"}.get(run.state, "")
    if run.state == "waiting" and run.reason.startswith("llm"):
        resume = "Retry"
    elif any(
        here.takes(kind).when is When.NOW for kind in orders.ON_A_CALL
    ):  # going on is no answer to a call
        resume = ""
    return Controls(
        resume=resume,
        pause_off=over,
        step_off="Works while the run is paused." if here.takes("step").why else "",
        stop_off=over,
        window_off=over,
    )


def applied_when(run: Run, kind: str) -> str:
    """The foot of a dialog: when the run would take this order on its window."""
    when = orders.where(run).takes(kind).when
    if when is When.CLOSE:
        return "A call of this turn waits for your word. This is applied when the turn closes."
    if when is When.TURN:
        return "The run goes on until this turn is done. This is applied then."
    return "Applied as soon as a worker has the run."


def chips(run: Run) -> list[Chip]:
    pending = list(Order.objects.filter(run=run, state="pending").order_by("id"))
    here = orders.where(run) if pending else Where(state=run.state)
    return [_chip(order, run, here) for order in pending]


def _chip(order: Order, run: Run, here: Where) -> Chip:
    how = str(order.args.get("how", "steer"))
    word = SAYS.get(how, "Steer") if order.kind == "say" else order.kind.replace("_", " ").capitalize()
    icon = "queue" if order.kind == "say" and how == "queue" else ICONS.get(order.kind, "arrow")
    said = first_words(str(order.args.get("text", "")), 90)
    return Chip(id=order.pk, icon=icon, word=word, said=said, rule=_rule(order.kind, how, run, here))


def _rule(kind: str, how: str, run: Run, here: Where) -> str:
    when = here.takes(kind, how).when
    if when is When.CLOSE:
        return when
    if run.state == "ready" or (run.state == "running" and not run.lease_owner):
        return "waits for a worker"
    if run.state == "running" and kind == "say":
        return RULES.get(how, when)
    return "at once" if when is When.NEVER else when


def answer(run: Run, order_id: int, data: Mapping[str, Any]) -> Answer | None:
    """How the answer of an `order.answered` event reads; None when there is no such order."""
    order = Order.objects.filter(run=run, pk=order_id).first()
    if order is None:
        return None
    state, reason = str(data.get("state", order.state)), str(data.get("reason", ""))
    word = order.kind.replace("_", " ").capitalize()
    if state == "applied":
        edit = Edit.objects.filter(run=run, order=order, state="applied").first()
        detail = _effect(edit) if edit else reason or _said(order)
        title = DONE.get(order.kind, f"{word} applied")
        return Answer(
            id=order.pk,
            css="ok",
            icon=ICONS.get(order.kind, "tick"),
            title=title,
            detail=detail,
            edit=edit.number if edit else 0,
        )
    if state == "merged":
        return Answer(
            id=order.pk, css="info", icon="info", title=f"{word}: already under way.", detail=reason
        )
    title = "Not done." if state == "rejected" else "Expired."
    return Answer(id=order.pk, css="warn", icon="clock", title=f"{word}: {title.lower()}", detail=reason)


def _effect(edit: Edit) -> str:
    return f"{numbers.kilo(edit.tokens_before)} \u2192 {numbers.kilo(edit.tokens_after)}"


def _said(order: Order) -> str:
    said = first_words(str(order.args.get("text", "")), 60)
    return f"\u201c{said}\u201d" if said else ""
