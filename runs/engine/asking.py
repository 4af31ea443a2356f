"""Asking the llm for one answer: render, validate, stream, and try again where trying again makes sense."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from .caching import Sent, head_changed, why
from .errors import AnswerTooLong, BadRequest, Cancelled, LlmTrouble, PromptTooLong, WindowFull
from .events import Delta, Event, Frame, LlmRetry, Repaired, TurnLost, TurnOpened, Usage
from .messages import calls_of
from .middleware.base import Desk, Technique
from .middleware.clear_thinking import lose_thinking
from .middleware.valves import Valves
from .ports import Answer, Request
from .window.gauge import Reading
from .window.render import Rendered, roomier

TRIES = 6
LONGEST_S = 300.0
BACKOFF_S = 0.5
"""Six tries, at most five minutes from the first trouble to the last try; then the run waits and says why. Source:
reliability rules of the house."""

FULL = "model_context_window_exceeded"
_OF_THINKING = re.compile(r"`signature` in `thinking`|`redacted_thinking` blocks|bound to a different")
_LENGTH = re.compile(r"(\d[\d,]*) (?:tokens > |\+ \d)")


class Asking:
    """One llm call of a turn, lost attempts included. `attempts` goes on counting where an earlier worker stopped, and
    starts anew when the turn is answered (`answered`)."""

    def __init__(self, desk: Desk, techniques: Sequence[Technique], attempts: int = 0) -> None:
        self.desk, self.techniques = desk, techniques
        self.attempts = attempts
        self._told: set[str] = set()
        self._partial: list[str] = []
        self.before: Sent | None = None
        """The request that was answered last: what the cache may hold of this one."""

        self.cache_miss = ""
        """Why the cache read less of the last request than it could; '' when it read what it could."""

    def answer(self) -> Generator[Event, None, tuple[int, Answer, Reading]]:
        """Yields events; returns (attempt, Answer, Reading of what was sent). Raises LlmTrouble when it gives up,
        WindowFull when the llm calls the request too long and it cannot be made shorter."""
        troubled_ms, reduced, room = 0, False, 0
        tries = 1
        while True:
            self._go_on()
            yield from self._counted_again()
            self.attempts += 1
            frame = roomier(self.desk.frame, room) if room else self.desk.frame
            rendered = self._rendered(frame)
            yield from self.repaired(rendered.repairs)
            yield self._opened(self.attempts, frame, rendered)
            try:
                asked = replace(rendered.request, after=self.before.answer if self.before else "")
                answer = yield from self._call(asked)
                sent = self._learned(answer, frame)
                if not room and _is_cut_in_a_call(answer):
                    room = self._more_room()
                    if room:
                        yield self._lost(
                            f"cut off in a tool call; asked again for {room:,} tokens", answer.usage
                        )
                        continue
                if answer.stop_reason != FULL or reduced:
                    return self.attempts, answer, sent
                yield self._lost("the window was full before the answer ended", answer.usage)
            except Cancelled as error:
                yield self._lost(self.desk.cancel.reason, self._paid(error), cancelled=True)
                raise
            except PromptTooLong as error:
                yield self._lost(str(error), self._paid(error))
                self._told_length(str(error))
                if reduced:
                    raise WindowFull from error
            except LlmTrouble as error:
                if isinstance(error, AnswerTooLong):
                    self._partial = []
                yield self._lost(str(error), self._paid(error))
                if isinstance(error, BadRequest) and (yield from self._bared(error)):
                    continue
                wait, now = _wait(error, tries), self.desk.clock.now_ms()
                troubled_ms = troubled_ms or now
                if not error.retry or tries == TRIES or now - troubled_ms + wait * 1000 > LONGEST_S * 1000:
                    raise
                yield LlmRetry(
                    turn=self.desk.turn, status=error.status, wait_ms=round(wait * 1000), tries=tries
                )
                self.desk.clock.sleep(wait, self.desk.cancel)
                tries += 1
                continue
            yield from self._reduce()
            reduced = True

    def bound_anew(self) -> Iterator[Event]:
        """What was thought under another system prompt, other tools or by another llm is refused by an llm that binds
        thinking to what stands before it (W5): a run that goes on under a new release, say."""
        desk = self.desk
        if self.before is not None and desk.llm.capability.thinking == "bound":
            changed = head_changed(self.before.frame, desk.frame)
            yield from lose_thinking(desk, changed) if changed else ()

    def _bared(self, error: BadRequest) -> Generator[Event, None, bool]:
        """Whether the request goes out once more, without the thinking that its server refuses."""
        version = self.desk.window.version
        if _OF_THINKING.search(str(error)):
            yield from lose_thinking(self.desk, "the llm's server refuses the thinking")
        return self.desk.window.version is not version

    def _counted_again(self) -> Iterator[Event]:
        """Another call of the same turn, or the first after a summary was paid for: the valves count before each."""
        for technique in self.techniques:
            if isinstance(technique, Valves):
                yield from technique.before_call(self.desk.window)

    def _go_on(self) -> None:
        if self.desk.cancel.reason:
            raise Cancelled(self.desk.cancel.reason)

    def _reduce(self) -> Iterator[Event]:
        """The techniques take out what they can, once; then the request is sent again."""
        before = self.desk.window.version.number
        for technique in self.techniques:
            yield from technique.make_room(self.desk.window)
        if self.desk.window.version.number == before:
            raise WindowFull

    def _told_length(self, sentence: str) -> None:
        """What the llm's server counted is the truth about this window too, though nothing was answered."""
        desk, found = self.desk, _LENGTH.search(sentence)
        if found:
            usage, shown = Usage(input=int(found[1].replace(",", ""))), desk.with_blocks(desk.window.entries)
            desk.gauge.learn(desk.window.version.number, desk.window.upto, usage, shown)

    def answered(self) -> None:
        self.attempts = 0

    def _more_room(self) -> int:
        """Twice the tokens for an answer that was cut off, as far as llm and window go; 0 where that is no more."""
        desk, known = self.desk, self.desk.llm.capability
        now = int(desk.frame.params["request"]["max_tokens"])
        more = min(2 * now, known.max_output, known.context - desk.read().tokens)
        return more if more > now else 0

    def _rendered(self, frame: Frame) -> Rendered:
        desk = self.desk
        return desk.renderer.render(frame, desk.window.entries, desk.window.calls(), desk.turn)

    def repaired(self, repairs: Sequence[str]) -> Iterator[Event]:
        """Each repair is reported once, not at every turn it is made again."""
        for what in repairs:
            if what not in self._told:
                self._told.add(what)
                yield Repaired(turn=self.desk.turn, what=what)

    def _opened(self, attempt: int, frame: Frame, rendered: Rendered) -> Event:
        return TurnOpened(
            turn=self.desk.turn,
            attempt=attempt,
            frame=frame,
            version=self.desk.window.version.number,
            upto=self.desk.window.upto,
            estimate=self.desk.read().tokens,
            request_sha256=rendered.request.sha256,
        )

    def _call(self, request: Request) -> Generator[Event, None, Answer]:
        """Stream through the techniques; the text so far is kept for the case that it breaks off."""
        self._partial = []
        call: Callable[[Request], Iterator[Event | Answer]] = self._llm
        for technique in reversed(self.techniques):
            call = partial(technique.around_call, call_next=call)
        for event in call(request):
            if isinstance(event, Answer):
                return event
            if isinstance(event, Delta) and event.block_type == "text":
                self._partial.append(event.text)
            yield event
        raise LlmTrouble("The llm's answer ended without an end.")

    def _llm(self, request: Request) -> Iterator[Event | Answer]:
        yield from self.desk.llm.answer(request, self.desk.cancel)

    def _paid(self, error: LlmTrouble | Cancelled) -> Usage:
        """What a broken answer cost, as far as its server had told; the valves count it too."""
        usage: Usage = error.paid or Usage()
        self.desk.spend(usage)
        return usage

    def _lost(self, reason: str, usage: Usage | None = None, *, cancelled: bool = False) -> Event:
        """Nothing of the attempt is used; what it cost, where that is known, was counted when it was learned."""
        usage = usage or Usage()
        return TurnLost(
            turn=self.desk.turn,
            attempt=self.attempts,
            reason=reason,
            partial="".join(self._partial),
            usage=usage,
            cost=self.desk.cost(usage),
            cancelled=cancelled,
        )

    def _learned(self, answer: Answer, frame: Frame) -> Reading:
        """Take the usage as the truth about what was sent, and read what it was made of."""
        desk, usage = self.desk, answer.usage
        shown = desk.window.entries
        now = Sent(
            frame=frame,
            version=desk.window.version.number,
            entries=shown,
            prompt=usage.prompt,
            at_ms=desk.clock.now_ms() - answer.ms,
            answer=answer.id,
        )
        self.cache_miss = why(self.before, now, usage, answer.cache_miss)
        self.before = now if usage.prompt else self.before
        if usage.prompt:
            desk.gauge.learn(desk.window.version.number, desk.window.upto, usage, desk.with_blocks(shown))
        desk.spend(usage)
        return desk.read()


def _is_cut_in_a_call(answer: Answer) -> bool:
    """With max_tokens a call is never whole for sure: what was cut off may parse like something else."""
    return answer.stop_reason == "max_tokens" and (answer.cut_call or bool(calls_of(answer.content)))


def _wait(error: LlmTrouble, tries: int) -> float:
    """Seconds before the next try: what the server asks for, else a base that doubles, with jitter of a quarter."""
    if error.retry_after is not None:
        return error.retry_after
    return float(min(BACKOFF_S * 2**tries, 30.0) * random.uniform(0.75, 1.0))
