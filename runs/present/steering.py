"""What a person can ask of a run now, what waits to be applied, and how an answer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.models import ENDED, Edit, Order, Run
from runs.store.orders import WAITING_FOR

from . import numbers, status
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
ANSWER_FIRST = "A call waits for your word. The window is worked on between turns."
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
    held = run.state == "waiting" and status.reason(run.reason)[0] in WAITING_FOR
    resume = {"paused": "Resume", "waiting": "Resume", "failed": "Retry"}.get(run.state, "")
    if run.state == "waiting" and run.reason.startswith("llm"):
        resume = "Retry"
    elif held:
        resume = ""
    return Controls(
        resume=resume,
        pause_off=over,
        step_off="" if run.state == "paused" else "Works while the run is paused.",
        stop_off=over,
        window_off=over or (ANSWER_FIRST if held else ""),
    )


def chips(run: Run) -> list[Chip]:
    pending = Order.objects.filter(run=run, state="pending").order_by("id")
    return [_chip(order, run) for order in pending]


def _chip(order: Order, run: Run) -> Chip:
    how = str(order.args.get("how", "steer"))
    word = SAYS.get(how, "Steer") if order.kind == "say" else order.kind.replace("_", " ").capitalize()
    icon = "queue" if order.kind == "say" and how == "queue" else ICONS.get(order.kind, "arrow")
    said = first_words(str(order.args.get("text", "")), 90)
    return Chip(id=order.pk, icon=icon, word=word, said=said, rule=_rule(order.kind, how, run))


def _rule(kind: str, how: str, run: Run) -> str:
    if run.state == "ready" or (run.state == "running" and not run.lease_owner):
        return "waits for a worker"
    if run.state != "running":
        return "when the run stops" if how == "queue" and run.state in ("paused", "waiting") else "at once"
    if kind == "say":
        rules = {"queue": "when the run stops", "interrupt": "at once, the reply is cut"}
        return rules.get(how, "at the next safe point, after this reply")
    return {"stop_now": "at once", "resume": "at once", "step": "at once"}.get(kind, "after this turn")


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
