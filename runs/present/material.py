"""What the rows of some events are made of, read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runs.engine.messages import Block, Kind, Message, results_of
from runs.models import Edit, Event, Run
from runs.store import approvals, page_reads, turn_reads
from runs.store.approvals import Question
from runs.store.turn_reads import Called

ANSWERS = ("turn.answered",)
EDITS = ("window.edited", "compaction.started", "compaction.failed")
CALLS = ("call.started", "call.ended", "approval.asked", "approval.answered")
OF_TURNS = (*ANSWERS, *CALLS, "turn.closed")
"""Events whose rows are those of their turn's answer."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """`answers` and `results` by turn. `finished`: edits of which no row says that they are being written."""

    run: Run
    messages: Mapping[int, Message]
    answers: Mapping[int, Message]
    results: Mapping[int, Message]
    calls: Mapping[tuple[int, str], Called]
    edits: Mapping[int, Edit]
    finished: frozenset[int] = field(default_factory=frozenset)
    question: Question | None = None

    def result(self, turn: int, call_id: str) -> Block | None:
        """A call's tool_result: from the message that closed the turn, else from the call that has ended."""
        found = self.results.get(turn)
        for block in results_of(found.content) if found else ():
            if block["tool_use_id"] == call_id:
                return block
        call = self.calls.get((turn, call_id))
        return call.result if call and not found else None


def gather(run: Run, events: Sequence[Event]) -> Material:
    numbers = {int(event.data["message"]) for event in events if "message" in event.data}
    turns = {event.turn for event in events if event.kind in OF_TURNS}
    found = turn_reads.read(run.pk, numbers, turns)
    return Material(
        run=run,
        messages={message.number: message for message in found.messages},
        answers={one.turn: one for one in reversed(found.messages) if one.kind is Kind.ANSWER},
        results={one.turn: one for one in found.messages if one.kind is Kind.RESULTS},
        calls=found.calls,
        edits=page_reads.edits(run, {event.data["edit"] for event in events if event.kind in EDITS}),
        question=approvals.question(run),
    )
