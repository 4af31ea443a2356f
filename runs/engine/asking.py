"""Asking the llm for one answer: render, validate, stream, and try again where trying again makes sense."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

from .errors import Cancelled, LlmTrouble
from .events import Delta, Event, LlmRetry, Repaired, TurnLost, TurnOpened, Usage
from .middleware.base import Desk, Technique
from .ports import Answer, Request
from .window.gauge import Reading
from .window.render import Rendered

TRIES = 6
LONGEST_S = 300.0
"""Six tries, at most five minutes in all; then the run waits and says why. Source: reliability rules of the house."""


class Asking:
    """One llm call of a turn, lost attempts included. `attempts` goes on counting where an earlier worker stopped, and
    starts anew when the turn is answered (`answered`)."""

    def __init__(self, desk: Desk, techniques: Sequence[Technique], attempts: int = 0) -> None:
        self.desk, self.techniques = desk, techniques
        self.attempts = attempts
        self._told: set[str] = set()
        self._partial: list[str] = []
        self._before = desk.gauge.last

    def answer(self) -> Generator[Event, None, tuple[int, Answer, Reading]]:
        """Yields events; returns (attempt, Answer, Reading of what was sent). Raises LlmTrouble when it gives up."""
        waited = 0.0
        for tries in range(1, TRIES + 1):
            self.attempts += 1
            attempt = self.attempts
            rendered = self._rendered()
            yield from self._repairs(rendered)
            yield self._opened(attempt, rendered)
            try:
                answer = yield from self._call(rendered.request)
                return attempt, answer, self._learned(answer.usage)
            except Cancelled:
                yield self._lost(attempt, self.desk.cancel.reason, cancelled=True)
                raise
            except LlmTrouble as error:
                yield self._lost(attempt, str(error))
                wait = _wait(error, tries)
                if not error.retry or tries == TRIES or waited + wait > LONGEST_S:
                    raise
                yield LlmRetry(turn=self.desk.turn, status=error.status, wait_ms=round(wait * 1000), tries=tries)
            waited += wait
            self.desk.clock.sleep(wait, self.desk.cancel)
            if self.desk.cancel.reason:
                raise Cancelled(self.desk.cancel.reason)
        raise AssertionError("the last try returns or raises")

    def answered(self) -> None:
        self.attempts = 0

    def _rendered(self) -> Rendered:
        desk = self.desk
        return desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), desk.turn)

    def _repairs(self, rendered: Rendered) -> Iterator[Event]:
        """Each repair is reported once, not at every turn it is made again."""
        for what in rendered.repairs:
            if what not in self._told:
                self._told.add(what)
                yield Repaired(turn=self.desk.turn, what=what)

    def _opened(self, attempt: int, rendered: Rendered) -> Event:
        return TurnOpened(
            turn=self.desk.turn,
            attempt=attempt,
            frame=self.desk.frame,
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

    def _lost(self, attempt: int, reason: str, *, cancelled: bool = False) -> Event:
        partial_text = "".join(self._partial)
        return TurnLost(
            turn=self.desk.turn, attempt=attempt, reason=reason, partial=partial_text, cancelled=cancelled
        )

    def _learned(self, usage: Usage) -> Reading:
        """Take the usage as the truth about what was sent, and read what it was made of."""
        desk = self.desk
        self._before = desk.gauge.last
        shown = desk.window.entries
        if usage.prompt:
            desk.gauge.learn(desk.window.version.number, desk.window.upto, usage, desk.with_blocks(shown))
        desk.spent.tokens += usage.prompt + usage.output
        desk.spent.cost += desk.cost(usage)
        return desk.read()

    def cache_miss(self, usage: Usage) -> str:
        """Why the cache read less than the request before had; '' when it read what it could."""
        before = self._before
        if before is None:
            return "the window was edited" if self.desk.window.version.number > 1 else ""
        if usage.cache_read >= 0.9 * before.prompt or usage.prompt < 2048:
            return ""
        return "the entry had expired or was never written"


def _wait(error: LlmTrouble, tries: int) -> float:
    """Seconds before the next try: what the server asks for, else 0.5 s doubled, with jitter of a quarter."""
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_S)
    return float(min(0.5 * 2**tries, 30.0) * random.uniform(0.75, 1.0))
