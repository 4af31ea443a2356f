"""Orders meet the run: each is applied or refused at a boundary, and answered in the transaction of what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runs.engine.events import CompactionFailed, Event, Said, Trigger, WindowEdited
from runs.engine.loop import Agent
from runs.engine.middleware.base import Asked as EditAsked
from runs.store import orders
from runs.store.archive import OrderAnswer, StateChange
from runs.store.orders import ON_A_CALL, Asked
from runs.store.transitions import When, Where

from .applied import Applied, done, merged, refused
from .deciding import decide, not_taken

WORKING = ("ready", "running")
ENDED = ("done", "failed", "stopped")

STOPPED = "Skipped: the run was stopped."
INSTEAD = (
    "Not run: a person wrote instead of allowing it. Read their message, and ask again if it is still needed."
)


def apply(agent: Agent, asked: Asked, here: Where) -> Iterator[Applied]:
    """Apply one order to a run that stands here, which may not be where it was given. The last one answers."""
    cell = asked.met(here)
    if cell.when is When.NEVER:
        yield not_taken(agent, asked, cell.why)
    elif said := orders.overtaken(asked):
        yield merged(asked, said)
    else:
        yield from _VERBS[asked.kind](agent, asked, here.state)


def _stop(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    """Calls that had not run are answered as skipped: the window can be taken up again."""
    yield from (Applied(events=(event,)) for event in agent.abandon(STOPPED))
    yield done(asked, StateChange(state="stopped", reason="person"))


def _pause(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    yield done(asked, StateChange(state="paused", reason="person"))


def _resume(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    yield from (Applied(events=(event,)) for event in agent.open_valves())
    yield done(asked, StateChange(state="running"))


def _step(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    yield done(asked, StateChange(state="running", reason=stepping(int(asked.args["n"]))))


def stepping(left: int) -> str:
    return f"step: {left} left"


def steps_left(reason: str) -> int:
    """Turns a stepping run may still take; 0 when it is not stepping."""
    kind, _, rest = reason.partition(": ")
    return int(rest.split()[0]) if kind == "step" and rest else 0


def _say(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    """A person's message wakes a run that had ended or that waits for a person. A call that waits is not run: who
    writes instead of allowing it wants something else."""
    wakes = state in ENDED or state == "waiting"
    yield from (Applied(events=(event,)) for event in agent.abandon(INSTEAD))
    yield from _follow(asked, agent.say(str(asked.args["text"]), asked.by, asked.id), wakes)


def _clear(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    yield from _follow(
        asked, agent.clear(EditAsked(trigger=Trigger.PERSON, order=asked.id, by=asked.by)), False
    )


def _compact(agent: Agent, asked: Asked, state: str) -> Iterator[Applied]:
    args: Mapping[str, Any] = asked.args
    keep = args.get("keep")
    edit = EditAsked(
        trigger=Trigger.PERSON,
        method=str(args.get("method") or "summary"),
        keep=None if keep in (None, "") else int(keep),
        instructions=str(args.get("instructions") or ""),
        order=asked.id,
        by=asked.by,
        reason="by order",
    )
    yield from _follow(asked, agent.compact(edit), False)


def _follow(asked: Asked, events: Iterator[Event], wakes: bool) -> Iterator[Applied]:
    """Store each event as it comes; the one that names the order carries its answer along."""
    answered = False
    for event in events:
        answer = None if answered else _answer(event, asked)
        answered = answered or answer is not None
        state = StateChange(state="running") if wakes and answer else None
        yield Applied(events=(event,), answer=answer, state=state)
    if not answered:
        yield refused(asked, "There was nothing to do.")


def _answer(event: Event, asked: Asked) -> OrderAnswer | None:
    if isinstance(event, Said) or (isinstance(event, WindowEdited) and event.edit.order == asked.id):
        return OrderAnswer(order_id=asked.id, state="applied")
    if isinstance(event, CompactionFailed) and event.order == asked.id:
        return OrderAnswer(
            order_id=asked.id, state="rejected", reason=f"The window is unchanged: {event.why}."
        )
    return None


_VERBS: dict[str, Callable[[Agent, Asked, str], Iterator[Applied]]] = {
    "stop_now": _stop,
    "stop": _stop,
    "pause": _pause,
    "resume": _resume,
    "step": _step,
    "say": _say,
    "clear": _clear,
    "compact": _compact,
    **dict.fromkeys(ON_A_CALL, decide),
}
