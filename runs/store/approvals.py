"""What persons said of calls, read from their orders: it needs no table of its own, and outlives every worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.engine.events import Decision, Verdict
from runs.models import Call, Event, Order, Run

KINDS = ("approve", "deny", "edit", "answer")
"""Orders that are a word on one call."""

LOOK_BACK = 20
"""Changes of state among which the last time the run went on is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words on the calls of the open turn, oldest first, and the tools that ask no more in this run."""

    words: tuple[Decision, ...] = ()
    always: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that waits for a person. `about`: "approval" or "unknown_outcome"; `seq`: the event that asked."""

    call: Call
    about: str
    why: str
    input_sha256: str
    seq: int


def said(run_id: int, turn: int) -> Said:
    """What was said of the calls of this turn, which is open. Ids of calls may come again, so older words are past."""
    found = Order.objects.filter(run_id=run_id, kind__in=KINDS, state="applied").order_by("applied_seq")
    since = _answered(run_id, turn)
    orders = [order for order in found if (order.applied_seq or 0) > since]
    words = (word(order.kind, order.args, by=order.by, order=order.pk) for order in orders)
    return Said(
        words=tuple(one for one in words if not _used_up(run_id, turn, one, orders)), always=always(run_id)
    )


def always(run_id: int) -> frozenset[str]:
    """Tools that a person allowed for the whole run."""
    kept = Order.objects.filter(run_id=run_id, kind="approve", state="applied", args__always=True)
    calls = [order.args["call"] for order in kept]
    if not calls:
        return frozenset()
    names = Call.objects.filter(run_id=run_id, tool_use_id__in=calls).values_list("name", flat=True)
    return frozenset(names)


def word(kind: str, args: Mapping[str, Any], *, by: str, order: int) -> Decision:
    """An order as a word on a call."""
    return Decision(
        call=str(args["call"]),
        verdict=verdict_of(kind, args),
        by=by,
        reason=str(args.get("reason", "")),
        input=args["input"] if kind == "edit" else None,
        order=order,
    )


def verdict_of(kind: str, args: Mapping[str, Any]) -> Verdict:
    if kind == "answer":
        return Verdict(args["outcome"])
    allowed = Verdict.ALWAYS if args.get("always") else Verdict.ALLOW
    return {"deny": Verdict.DENY, "edit": Verdict.EDIT}.get(kind, allowed)


def question(run: Run) -> Question | None:
    """The call that this run waits for a person with; None when it waits for nothing of the kind."""
    about = run.reason.partition(":")[0]
    if run.state != "waiting" or about not in ("approval", "unknown_outcome"):
        return None
    event = Event.objects.filter(run=run, kind="approval.asked").order_by("-seq").first()
    if event is None:
        return None
    call = Call.objects.filter(run=run, turn=event.turn, tool_use_id=event.data["id"]).first()
    if call is None:
        return None
    data = event.data
    return Question(
        call=call, about=data["about"], why=data["why"], input_sha256=data["input_sha256"], seq=event.seq
    )


def reason_before(run_id: int) -> str:
    """Why the run was going when it came to the call: a run that takes steps goes on taking them."""
    states = Event.objects.filter(run_id=run_id, kind="run.state").order_by("-seq")
    going = next((event for event in states[:LOOK_BACK] if event.data["to"] == "running"), None)
    return str(going.data["reason"]) if going else ""


def already(run_id: int, kind: str, args: Mapping[str, Any]) -> str:
    """Who said the same of this call before, as a sentence, or "". A second Allow is a no-op, not a mistake."""
    if kind not in KINDS:
        return ""
    same = Order.objects.filter(run_id=run_id, kind=kind, state="applied").order_by("-applied_seq")
    for order in same:
        if order.args == args:
            return f"{order.by} said so already, at event {order.applied_seq}"
    return ""


def _answered(run_id: int, turn: int) -> int:
    """The seq at which the llm asked for the calls of this turn."""
    answers = Event.objects.filter(run_id=run_id, kind="turn.answered", turn=turn)
    return answers.order_by("-seq").values_list("seq", flat=True).first() or 0


def _used_up(run_id: int, turn: int, said: Decision, orders: list[Order]) -> bool:
    """Run again is said of one interruption: once the call was started anew, the next one asks anew."""
    if said.verdict is not Verdict.AGAIN:
        return False
    applied = next(order.applied_seq for order in orders if order.pk == said.order)
    began = Event.objects.filter(run_id=run_id, kind="call.started", turn=turn, seq__gt=applied)
    return any(event.data["id"] == said.call for event in began)
