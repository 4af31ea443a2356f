"""One turn on one screen: the techniques act on the window, the llm answers, its tools run.

The agent yields events and knows nobody. What it yields is stored before it goes on, so its own state is never ahead
of the archive. Leaving is an exception with a reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from . import intake, tokens
from .asking import Asking
from .errors import Refused
from .events import (
    CallEnded,
    CallStarted,
    Effect,
    Event,
    NoteChanged,
    NoticeGiven,
    PlannedCall,
    Said,
    TurnAnswered,
    TurnClosed,
    TurnLost,
)
from .messages import Author, Block, Counted, Kind, Message, Role, text
from .middleware.base import Asked, Desk, Technique
from .middleware.clear import clear
from .middleware.compact import Compact
from .ports import Answer, ToolContext, ToolResult
from .settle import Settled, ended, skipped
from .tools import Toolbox, may_run
from .window.gauge import Reading
from .window.head import notice

MOST_PAUSES = 5
CUT_OFF = "Your last answer was cut off at its end. Go on from there, in smaller steps."
SAY_SOMETHING = "Your answer was empty. Go on, or say in a sentence that the goal is reached."


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """An answered turn whose results are not all in: what a worker finds when it takes up a run."""

    attempt: int
    calls: tuple[PlannedCall, ...]
    settled: dict[str, Settled]
    stop_reason: str
    cost: int


class Agent:
    """A run in hand. `turn()` walks one turn; `finished` says that the llm asked for nothing more."""

    def __init__(
        self, desk: Desk, techniques: Sequence[Technique], toolbox: Toolbox, context: ToolContext, found: Open | None
    ) -> None:
        self.desk, self.techniques, self.toolbox, self.context = desk, techniques, toolbox, context
        self.asking = Asking(desk, techniques)
        self.open = found
        self.sent: Reading | None = None
        self.finished = False
        self._pauses = 0
        self._nudged = False

    def turn(self) -> Iterator[Event]:
        """One turn. Raises RunInterrupted, LlmTrouble, InvalidWindow; the window stays valid whatever happens."""
        self.finished = False
        found = self.open or (yield from self._asked())
        if found is None:
            return
        self.open = found
        yield from self._act(found)
        self.open = None
        if self.desk.cancel.reason:
            return
        for technique in self.techniques:
            yield from technique.after_turn(self.desk.window)

    def _asked(self) -> Generator[Event, None, Open | None]:
        """A turn counts when it is answered: until then the next try has its number."""
        self.desk.turn += 1
        found = None
        try:
            found = yield from self._ask()
        finally:
            if found is None:
                self.desk.turn -= 1
        return found

    def _ask(self) -> Generator[Event, None, Open | None]:
        for technique in self.techniques:
            yield from technique.before_call(self.desk.window)
        attempt, answer, sent = yield from self.asking.answer()
        if answer.stop_reason == "refusal":
            yield from self._lose(attempt, answer, "the llm refused to answer")
            raise Refused
        taken = intake.take(answer, self.toolbox, self.desk.window.calls(), self.desk.turn, self.desk.slug)
        if not taken.content:
            yield from self._nothing_said(attempt, answer)
            return None
        self.sent = sent
        message = self._message(answer, taken.content)
        cost = self.desk.cost(answer.usage)
        yield TurnAnswered(
            turn=self.desk.turn,
            attempt=attempt,
            stop_reason=answer.stop_reason,
            usage=answer.usage,
            message=message,
            calls=taken.calls,
            first_token_ms=answer.first_token_ms,
            ms=answer.ms,
            cost=cost,
            cache_miss=self.asking.cache_miss(answer.usage),
        )
        self._append(message)
        self.asking.answered()
        return Open(attempt=attempt, calls=taken.calls, settled={}, stop_reason=answer.stop_reason, cost=cost)

    def _act(self, found: Open) -> Iterator[Event]:
        """Settle the calls in order; close the turn with all their results. Pure ones are stored with the close."""
        permit = may_run(found.stop_reason, [{"id": call.id} for call in found.calls], ended=True)
        allowed = {block["id"] for block in permit.run}
        results: list[Block] = []
        quiet: list[CallEnded] = []
        for call in found.calls:
            known = found.settled.get(call.id, Settled())
            if known.result is not None:
                results.append(known.result)
                continue
            if call.effect is not Effect.PURE and not known.started and call.id in allowed:
                yield CallStarted(turn=self.desk.turn, call=call)
            end = self._settle(call, known, "" if call.id in allowed else permit.why)
            if call.effect is Effect.PURE or call.id not in allowed:
                quiet.append(end)
            else:
                yield end
            self._take_notes(end)
            results.append(end.result)
        yield from self._close(found, results, tuple(quiet))

    def _settle(self, call: PlannedCall, known: Settled, refusal: str) -> CallEnded:
        """Run the call, unless it may not, the run was stopped, or it was begun and must not be repeated."""
        began = time.monotonic()
        if self.desk.cancel.reason:
            refusal = "Skipped: the run was stopped."
        if refusal:
            result = skipped(refusal)
        else:
            context = self._context(call)
            recovered = self.toolbox.recovered(call, context, known.started) if known.started else None
            result = recovered or self._run(call)
        return ended(self.desk, call, result, round((time.monotonic() - began) * 1000))

    def _run(self, call: PlannedCall) -> ToolResult:
        run: Callable[[PlannedCall], ToolResult] = self._run_tool
        for technique in reversed(self.techniques):
            run = partial(technique.around_tool, call_next=run)
        return run(call)

    def _run_tool(self, call: PlannedCall) -> ToolResult:
        return self.toolbox.run(call, self._context(call))

    def _context(self, call: PlannedCall) -> ToolContext:
        return replace(self.context, turn=self.desk.turn, key=call.key)

    def _take_notes(self, end: CallEnded) -> None:
        for event in end.also:
            if isinstance(event, NoteChanged):
                self.desk.notes[event.note.number] = event.note

    def _close(self, found: Open, results: Sequence[Block], ended: tuple[CallEnded, ...]) -> Iterator[Event]:
        message = self._results(results) if results else None
        sent = self.sent or self.desk.read()
        final = not found.calls and found.stop_reason in ("end_turn", "stop_sequence")
        yield TurnClosed(
            turn=self.desk.turn,
            message=message,
            window=sent.tokens,
            limit=self.desk.limit,
            parts=sent.parts,
            cost=found.cost,
            estimated=sent.estimated,
            ended=ended,
            final=final,
        )
        if message is not None:
            self._append(message)
        self.desk.spent.turns += 1
        yield from self._after(found, final)

    def _after(self, found: Open, final: bool) -> Iterator[Event]:
        """What the stop reason asks for when no tool ran: go on, nudge, or be done."""
        self.finished = final
        if found.stop_reason == "pause_turn":
            self._pauses += 1
            self.finished = self._pauses >= MOST_PAUSES
        elif found.stop_reason in intake.CUT:
            yield from self._tell(CUT_OFF)
        else:
            self._pauses = 0

    def _nothing_said(self, attempt: int, answer: Answer) -> Iterator[Event]:
        """An empty answer is never stored: one nudge, then the run is done."""
        yield from self._lose(attempt, answer, f"an empty answer ({answer.stop_reason})")
        self.finished = self._nudged
        if not self._nudged:
            self._nudged = True
            yield from self._tell(CUT_OFF if intake.is_cut(answer) else SAY_SOMETHING)

    def _lose(self, attempt: int, answer: Answer, reason: str) -> Iterator[Event]:
        cost = self.desk.cost(answer.usage)
        self.desk.spent.cost += cost
        yield TurnLost(turn=self.desk.turn, attempt=attempt, reason=reason, usage=answer.usage, cost=cost)

    def _tell(self, line: str) -> Iterator[Event]:
        message = notice(self.desk.numbers.message, self.desk.turn, line)
        yield NoticeGiven(turn=self.desk.turn, message=message)
        self._append(message)

    def say(self, words: str, by: str, order: int = 0) -> Iterator[Event]:
        """A person's message reaches the window, at a boundary."""
        message = Message(
            number=self.desk.numbers.message,
            role=Role.USER,
            author=Author.PERSON,
            kind=Kind.SAY,
            turn=self.desk.turn,
            content=(text(words),),
            tokens=tokens.estimate(words),
            by=by,
        )
        yield Said(turn=self.desk.turn, message=message, order=order)
        self._append(message)

    def compact(self, asked: Asked) -> Iterator[Event]:
        """The mark's own path with its gate skipped."""
        technique = next((known for known in self.techniques if isinstance(known, Compact)), Compact())
        technique.start(self.desk)
        yield from technique.compact(asked)

    def clear(self, asked: Asked) -> Iterator[Event]:
        yield from clear(self.desk, asked)

    def _append(self, message: Message) -> None:
        self.desk.window.append(message)
        self.desk.numbers.message = message.number + 1

    def _message(self, answer: Answer, content: tuple[Block, ...]) -> Message:
        whole = len(content) == len(answer.content) and answer.usage.output > 0
        return Message(
            number=self.desk.numbers.message,
            role=Role.ASSISTANT,
            author=Author.LLM,
            kind=Kind.ANSWER,
            turn=self.desk.turn,
            content=content,
            tokens=intake.sent_back(answer.usage, self.desk.llm.capability) if whole else tokens.of_content(content),
            counted=Counted.USAGE if whole else Counted.ESTIMATE,
        )

    def _results(self, results: Sequence[Block]) -> Message:
        return Message(
            number=self.desk.numbers.message,
            role=Role.USER,
            author=Author.TOOL,
            kind=Kind.RESULTS,
            turn=self.desk.turn,
            content=tuple(results),
            tokens=round(tokens.of_content(results) * self.desk.gauge.ratio),
        )


