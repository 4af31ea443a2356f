"""One turn on one screen: the techniques act on the window, the llm answers, its tools run.

The agent yields events and knows nobody. What it yields is stored before it goes on, so its own state is never ahead
of the archive. Leaving is an exception with a reason.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from . import intake, tokens
from .acting import Acting
from .asking import Asking
from .errors import Cancelled, CutOff, PausedAgain, Refused
from .events import (
    CallEnded,
    Effect,
    Event,
    NoteChanged,
    NoticeGiven,
    PlannedCall,
    PolicyChanged,
    Said,
    TurnAnswered,
    TurnClosed,
    TurnLost,
)
from .messages import Author, Block, Kind, Message, Role, clean, text
from .middleware.base import Asked, Desk, Technique
from .middleware.clear import clear
from .middleware.compact import Compact
from .middleware.valves import opened
from .ports import Answer, ToolContext
from .settle import Settled, results_message
from .tools import Toolbox, may_run
from .window.gauge import Reading
from .window.head import CONTINUE, notice
from .window.versions import entries

MOST_PAUSES = 5
MOST_CUTS = 2
"""Answers cut off in a row before a person is asked: an answer that is cut off goes on once."""

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
        self,
        desk: Desk,
        techniques: Sequence[Technique],
        toolbox: Toolbox,
        context: ToolContext,
        found: Open | None,
    ) -> None:
        self.desk, self.techniques, self.toolbox = desk, techniques, toolbox
        self.asking = Asking(desk, techniques)
        self.acting = Acting(desk, techniques, toolbox, context)
        self.open = found
        self.sent: Reading | None = None
        self.finished = False
        self._pauses = 0
        self._cuts = 0
        self._nudged = False
        self._left = ""

    def turn(self) -> Iterator[Event]:
        """One turn. Raises RunInterrupted, LlmTrouble, InvalidWindow; the window stays valid whatever happens."""
        self.finished = False
        found = self.open or (yield from self._asked())
        if found is None:
            return
        self.open = found
        yield from self._act(found)
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
        if self.desk.cancel.reason:
            raise Cancelled(self.desk.cancel.reason)
        yield from self.asking.bound_anew()
        for technique in self.techniques:
            yield from technique.before_call(self.desk.window)
        attempt, answer, sent = yield from self.asking.answer()
        if answer.stop_reason == "refusal":
            yield self._lost(attempt, answer, "the llm refused to answer")
            raise Refused
        taken = intake.take(answer, self.toolbox, self.desk.window.calls(), self.desk.turn, self.desk.slug)
        if not taken.content:
            yield from self._nothing_said(attempt, answer)
            return None
        yield from self.asking.repaired(taken.repairs)
        self.sent, self._nudged = sent, False
        message = intake.message(self.desk, answer, taken.content)
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
            cache_miss=self.asking.cache_miss,
            raw=intake.original(answer, taken.content),
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
            refusal = self._refusal() or ("" if call.id in allowed else permit.why)
            end = yield from self.acting.settle(call, found.settled, refusal)
            if call.effect is Effect.PURE or call.id not in allowed:
                quiet.append(end)
            else:
                yield end
                found.settled[call.id] = Settled(result=end.result)
            self._take_notes(end)
            results.append(end.result)
        yield from self._close(found, results, tuple(quiet))

    def _refusal(self) -> str:
        return self._left or ("Skipped: the run was stopped." if self.desk.cancel.reason else "")

    def abandon(self, why: str) -> Iterator[Event]:
        """Close the open turn without running what is left of it: only then may the window be worked on."""
        self._left = why
        try:
            if self.open is not None:
                yield from self._act(self.open)
        finally:
            self._left = ""

    def waiting(self) -> PlannedCall | None:
        """The call that waits for a person's word."""
        return self.acting.waiting(self.open.calls, self.open.settled) if self.open else None

    def _take_notes(self, end: CallEnded) -> None:
        for event in end.also:
            if isinstance(event, NoteChanged):
                self.desk.notes[event.note.number] = event.note

    def _close(self, found: Open, results: Sequence[Block], ended: tuple[CallEnded, ...]) -> Iterator[Event]:
        message = results_message(self.desk, results) if results else None
        sent, self.sent = self.sent or self._read_again(), None
        final = not found.calls and found.stop_reason not in ("pause_turn", *intake.CUT)
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
        self.open = None
        self.desk.words.forget()
        if message is not None:
            self._append(message)
        self.desk.spent.turns += 1
        yield from self._after(found, final)

    def _read_again(self) -> Reading:
        """What an earlier worker sent: the window up to what its usage was counted on."""
        desk, last, version = self.desk, self.desk.gauge.last, self.desk.window.version
        if last is None or last.version != version.number:
            return desk.read()
        return desk.read_as(version, last.upto, entries(version, desk.window.messages, last.upto))

    def _after(self, found: Open, final: bool) -> Iterator[Event]:
        """What the stop reason asks for when no tool ran: go on, nudge, or be done."""
        cut, paused = found.stop_reason in intake.CUT, found.stop_reason == "pause_turn"
        self._cuts, self._pauses = (self._cuts + 1) * cut, (self._pauses + 1) * paused
        self.finished = final
        if cut or paused:
            yield from self._tell(CUT_OFF if cut else CONTINUE)
        if self._cuts >= MOST_CUTS:
            self._cuts = 0
            raise CutOff
        if self._pauses >= MOST_PAUSES:
            self._pauses = 0
            raise PausedAgain

    def _nothing_said(self, attempt: int, answer: Answer) -> Iterator[Event]:
        """An empty answer is never stored: one nudge, then the run is done, or a person is asked why it is cut off."""
        cut = intake.is_cut(answer)
        yield self._lost(attempt, answer, f"an empty answer ({answer.stop_reason})")
        if self._nudged and cut:
            raise CutOff
        self.finished = self._nudged
        if not self._nudged:
            self._nudged = True
            yield from self._tell(CUT_OFF if cut else SAY_SOMETHING)

    def _lost(self, attempt: int, answer: Answer, reason: str) -> Event:
        """The answer is not used; its cost was counted when its usage was learned."""
        cost = self.desk.cost(answer.usage)
        return TurnLost(turn=self.desk.turn, attempt=attempt, reason=reason, usage=answer.usage, cost=cost)

    def _tell(self, line: str) -> Iterator[Event]:
        message = notice(self.desk.numbers.message, self.desk.turn, line)
        yield NoticeGiven(turn=self.desk.turn, message=message)
        self._append(message)

    def say(self, words: str, by: str, order: int = 0) -> Iterator[Event]:
        """A person's message reaches the window, at a boundary."""
        content = (text(clean(words)),)
        message = Message(
            number=self.desk.numbers.message,
            role=Role.USER,
            author=Author.PERSON,
            kind=Kind.SAY,
            turn=self.desk.turn,
            content=content,
            tokens=round(tokens.of_content(content) * self.desk.gauge.ratio),
            by=by,
        )
        yield Said(turn=self.desk.turn, message=message, order=order)
        self._append(message)

    def compact(self, asked: Asked) -> Iterator[Event]:
        """The mark's own path with its gate skipped."""
        technique = next((known for known in self.techniques if isinstance(known, Compact)), Compact())
        technique.start(self.desk)
        yield from technique.compact(asked)

    def open_valves(self) -> Iterator[Event]:
        """A person lets the run go on: what holds it is opened, in its policy and at the desk."""
        policy = opened(self.desk)
        if policy:
            yield PolicyChanged(turn=self.desk.turn, section="valves", policy=policy.stored())
            self.desk.policy = policy

    def clear(self, asked: Asked) -> Iterator[Event]:
        yield from clear(self.desk, asked)

    def _append(self, message: Message) -> None:
        self.desk.window.append(message)
        self.desk.numbers.message = message.number + 1
