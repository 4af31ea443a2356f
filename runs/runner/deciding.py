"""A person's word on a call that waits: what was shown is what runs, and a card that is out of date changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from runs.engine.events import PlannedCall
from runs.engine.loop import Agent
from runs.store import approvals
from runs.store.archive import OrderAnswer, StateChange
from runs.store.orders import Asked

from .applied import Applied, merged, refused

OTHER_CALL = "another call waits now, not the one that was shown: look at the page again"
OTHER_INPUT = "what was shown is not what waits: the call's input is another one. Look at the page again"
EACH = "there is no sandbox here, so each command is allowed by itself: allow it once"


def decide(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    """The run goes on with the call, as it went before it asked."""
    call = agent.waiting()
    why = _mismatch(agent, asked, call)
    if why or call is None:
        yield not_taken(agent, asked, why)
        return
    word = approvals.word(asked.kind, asked.args, by=asked.by, order=asked.id)
    going = StateChange(state="running", reason=approvals.reason_before(asked.run_id))
    for event in agent.acting.decide(call, word):
        yield Applied(events=(event,), answer=OrderAnswer(order_id=asked.id, state="applied"), state=going)


def not_taken(agent: Agent, asked: Asked, why: str) -> Applied:
    """The second of two who said the same is told so; it is no mistake."""
    said = approvals.already(asked.run_id, asked.kind, asked.args)
    return merged(asked, said) if said else refused(asked, why)


def _mismatch(agent: Agent, asked: Asked, call: PlannedCall | None) -> str:
    args = asked.args
    if call is None or args["call"] != call.id:
        return OTHER_CALL
    if args.get("input_sha256", call.input_sha256) != call.input_sha256:
        return OTHER_INPUT
    if args.get("always") and call.name in agent.desk.words.each:
        return EACH
    return agent.toolbox.complaint(call.name, args["input"]) if asked.kind == "edit" else ""
