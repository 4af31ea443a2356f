"""Compact: at the mark, or by order, everything but the recent tail becomes an episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import tokens
from ..errors import Cancelled, WindowHeld
from ..events import (
    Checked,
    CompactionFailed,
    CompactionStarted,
    Edit,
    Episode,
    Event,
    Form,
    Item,
    Trigger,
)
from ..messages import Kind
from ..policy.model import smaller
from ..window.cut import last_turn, messages_start, tail_start
from ..window.head import item_of, without_thinking
from ..window.ledger import ledger
from ..window.versions import Entry, Window
from .base import Asked, Technique, cleared, percent
from .clear_results import ClearResults, cleared_items
from .spiral import keep_rule, scores, seen
from .summary import Summary, is_work, summarise, without_known
from .undo import fresh_undo

FALLBACK = (
    "No summary could be made of these turns ({why}). The identifiers below were found by code; "
    "read_archive and recall give the rest."
)


class Compact(Technique):
    """The button and the mark take the same path; only the gate before it differs."""

    name = "compact"

    def before_call(self, window: Window) -> Iterator[Event]:
        yield from self._at_the_mark()
        yield from seen(self.desk)

    def _at_the_mark(self) -> Iterator[Event]:
        share, at = self.desk.share(), self.desk.policy.compact_at
        hold = self._hold(share, at)
        if hold:
            yield self._checked(share, at, "not fired", hold)
            if share > 1:
                yield from self._clear_deep("the last turn alone is larger than the limit", keep=0)
            return
        why = f"{percent(share)} ≥ {percent(at)}" if share >= at else "by the number of turns"
        yield self._checked(share, at, "fired", why)
        yield from self._by_itself(why, stubborn=self.desk.record.failures > 0 and self._is_hard(share))

    def make_room(self, window: Window) -> Iterator[Event]:
        """The llm's own count is the truth: work on the window though the gauge sees room."""
        if self.desk.policy.compact.auto == "off":
            raise WindowHeld
        why = "the llm calls the request too long"
        if self._new_turns() == 0 or self._nothing_to_do(hard=True):
            yield from self._clear_deep(why, keep=0)
        else:
            yield from self._by_itself(why, stubborn=False, pressing=True)

    def _by_itself(self, why: str, *, stubborn: bool, pressing: bool = False) -> Iterator[Event]:
        """By the policy's method; where that changes nothing and there is no room to wait, by code alone."""
        before, method = self.desk.record.episode, self.desk.policy.compact.method
        if not stubborn and not self._nothing_to_do(hard=False):
            yield from self.compact(Asked(trigger=Trigger.AUTO, method=method, reason=why))
        pressing = pressing or stubborn or self._is_hard(self.desk.share())
        if pressing and self.desk.record.episode is before and not self._nothing_to_do(hard=True):
            yield from self.compact(Asked(trigger=Trigger.FALLBACK, method="summary", reason=why))

    def _is_hard(self, share: float) -> bool:
        return share >= self.desk.policy.window.hard

    def _hold(self, share: float, at: float) -> str:
        """Why it does not fire now; '' when it does. Raises WindowHeld at the hard mark when auto is off."""
        policy, record, hard = self.desk.policy.compact, self.desk.record, self._is_hard(share)
        due = policy.every_turns and self.desk.turn - record.compacted_at > policy.every_turns
        if share < at and not due:
            return f"{percent(share)} < {percent(at)}"
        if policy.auto == "off":
            if hard:
                raise WindowHeld
            return "the policy compacts only by order"
        fresh = self._new_turns()
        if fresh == 0:
            return "no new turn since the last compaction"
        if not hard:
            if taken_back := fresh_undo(self.desk):
                return taken_back
            fresh = self._since_clearing() if policy.method == "clear" else fresh
            if fresh is not None and fresh < policy.min_new_turns:
                return f"only {fresh} new turns since the last time"
            wait = record.failed_at + 2**record.failures - self.desk.turn if record.failures else 0
            if wait > 0:
                return f"the last summary failed, next try in {wait} turns"
        return self._nothing_to_do(hard)

    def _new_turns(self) -> int | None:
        """Answers since the last compaction, None where none stands in the window."""
        shown = self.desk.window.entries
        last = max((entry.message.number for entry in shown if entry.message.kind is Kind.EPISODE), default=0)
        fresh = sum(entry.message.kind is Kind.ANSWER and entry.message.number > last for entry in shown)
        return fresh if last else None

    def _since_clearing(self) -> int | None:
        """Result messages beyond those that the last clearing kept: else one more is cleared every turn."""
        results = [entry for entry in self.desk.window if entry.message.kind is Kind.RESULTS]
        old = [at for at, entry in enumerate(results) if entry.form is Form.CLEARED]
        return max(0, len(results) - 1 - old[-1] - self.desk.policy.clear.keep) if old else None

    def _nothing_to_do(self, hard: bool) -> str:
        """An attempt that must fail is not made every turn: it is a decision not to act."""
        shown = self.desk.window.entries
        if self.desk.policy.compact.method == "clear" and not hard:
            return "" if cleared_items(self.desk, shown, self.desk.policy.clear.keep) else "nothing to clear"
        work = any(is_work(entry) for entry in _span(shown, self._start(shown, None)))
        return "" if work else "nothing to compact"

    def _checked(self, share: float, at: float, verdict: str, why: str) -> Event:
        turn = self.desk.turn
        return Checked(turn=turn, technique=self.name, value=share, threshold=at, verdict=verdict, why=why)

    def compact(self, asked: Asked) -> Iterator[Event]:
        """Fold all but the tail. Ends in one WindowEdited, or in one CompactionFailed that changed nothing."""
        if asked.method == "clear":
            yield from self._clear_only(asked)
            return
        shown = self.desk.window.entries
        start = self._start(shown, asked.keep)
        span = _span(shown, start)
        if not any(is_work(entry) for entry in span):
            yield from self._fail(asked, Summary(problem="nothing to compact"), 0)
            return
        yield CompactionStarted(
            turn=self.desk.turn, edit=self.desk.numbers.edit, why=asked.reason or "by order"
        )
        began = self.desk.clock.now_ms()
        found = self._ledger(span)
        try:
            summary = self._summary(shown[:start], span, found, asked)
        except Cancelled:
            yield from self._fail(asked, Summary(problem="cancelled"), self.desk.clock.now_ms() - began)
            raise
        taken = self.desk.clock.now_ms() - began
        if summary.problem:
            yield from self._give_up(asked, summary, taken)
            return
        yield from self._fold(shown, start, summary, found, asked, taken)

    def _clear_only(self, asked: Asked) -> Iterator[Event]:
        technique = ClearResults()
        technique.start(self.desk)
        done = False
        for event in technique.clear(asked):
            done = True
            yield event
        if not done:
            yield from self._fail(asked, Summary(problem="nothing to clear"), 0)

    def _summary(self, prefix: Sequence[Entry], span: Sequence[Entry], found: str, asked: Asked) -> Summary:
        if asked.trigger is Trigger.FALLBACK:
            why = "summaries keep failing" if self.desk.record.failures else "there was no room left for one"
            return Summary(text=FALLBACK.format(why=why))
        return summarise(self.desk, prefix, span, found, asked.instructions)

    def _start(self, shown: Sequence[Entry], keep: int | None) -> int:
        if keep is not None:
            return messages_start(shown, keep)
        return tail_start(shown, self.desk.sizes(shown), keep_rule(self.desk))

    def _ledger(self, span: Sequence[Entry]) -> str:
        policy, before = self.desk.policy.episode, self.desk.record.episode
        limit = smaller(policy.ledger_tokens, policy.ledger_share, self.desk.limit)
        folded = any(entry.message.kind is Kind.EPISODE for entry in span)
        old = before.ledger if before and folded else ""
        return ledger([entry.message for entry in span if is_work(entry)], limit, old)

    def _fold(
        self, shown: Sequence[Entry], start: int, summary: Summary, found: str, asked: Asked, taken: int
    ) -> Iterator[Event]:
        episode = self._episode(shown[:start], summary, found)
        edit = self._smallest_that_fits(shown, start, episode, summary, asked, taken)
        if edit.tokens_after >= edit.tokens_before:
            why = f"compaction would not help: {edit.tokens_before:,} to {edit.tokens_after:,} tokens, not smaller"
            yield from self._give_up(asked, Summary(problem=why, usage=summary.usage), taken)
            return
        yield from self.desk.apply(edit)
        record = self.desk.record
        record.compacted_at, record.episode = self.desk.turn, episode
        if asked.trigger is not Trigger.FALLBACK:
            record.failures = 0
        self.desk.numbers.episode += 1

    def _smallest_that_fits(
        self, shown: Sequence[Entry], start: int, episode: Episode, summary: Summary, asked: Asked, taken: int
    ) -> Edit:
        """W9: at most half of the mark stays. Else the tail shrinks to the last turn, then its results are cleared."""
        added = self.desk.head(episode)
        best: Edit | None = None
        for at, tail in self._tails(shown, start, asked):
            edit = self.desk.draw(
                [*self.desk.first(shown, at), *map(item_of, added), *tail],
                added,
                kind="compact",
                method=asked.method or "summary",
                trigger=asked.trigger,
                episode=episode,
                order=asked.order,
                by=asked.by,
                instructions=asked.instructions,
                reason=asked.reason or "by order",
                usage=summary.usage,
                cost=self.desk.cost(summary.usage, self.desk.summariser),
                ms=taken,
            )
            best = edit if best is None or edit.tokens_after < best.tokens_after else best
            if best.tokens_after <= self.desk.mark // 2 or asked.keep is not None:
                break
        assert best is not None
        return best

    def _tails(self, shown: Sequence[Entry], start: int, asked: Asked) -> Iterator[tuple[int, list[Item]]]:
        """Ever smaller tails, each with the index of its first entry. An open tool loop keeps its thinking wherever
        the llm does not bind it to what stands before (W5)."""
        tail, last = shown[start:], last_turn(shown)
        cleared = cleared_items(self.desk, tail, 0) if asked.method == "both" else None
        emptied = {item.message for item in cleared or () if item.form is Form.CLEARED}
        yield start, [self._item(entry, entry.message.number in emptied) for entry in tail]
        if start < last < len(shown):
            yield last, [self._item(entry, False) for entry in shown[last:]]
        if start <= last < len(shown):
            yield last, [self._item(entry, True) for entry in shown[last:]]

    def _item(self, entry: Entry, emptied: bool) -> Item:
        if emptied and entry.message.kind is Kind.RESULTS and not entry.pinned:
            return cleared(entry)
        return without_thinking(entry) if self.desk.llm.capability.thinking == "bound" else entry.item

    def _episode(self, span: Sequence[Entry], summary: Summary, found: str) -> Episode:
        turns = [entry.message.turn for entry in span if is_work(entry)]
        folds = (
            self.desk.record.episode if any(entry.message.kind is Kind.EPISODE for entry in span) else None
        )
        text = without_known(summary.text, found)
        return Episode(
            number=self.desk.numbers.episode,
            first_turn=min(turns),
            last_turn=max(turns),
            text=text,
            ledger=found,
            tokens=tokens.estimate(text) + tokens.estimate(found),
            folds=folds.number if folds else 0,
            scores=scores(self.desk, span),
        )

    def _give_up(self, asked: Asked, summary: Summary, taken: int) -> Iterator[Event]:
        """Nothing changes. While summaries fail by themselves, old results are cleared deep instead."""
        yield from self._fail(asked, summary, taken)
        if asked.trigger is Trigger.PERSON:
            return
        self.desk.record.failures += 1
        self.desk.record.failed_at = self.desk.turn
        yield from self._clear_deep(f"the summary failed: {summary.problem}")

    def _clear_deep(self, why: str, keep: int | None = None) -> Iterator[Event]:
        technique = ClearResults()
        technique.start(self.desk)
        yield from technique.clear(Asked(trigger=Trigger.FALLBACK, keep=keep, reason=why))

    def _fail(self, asked: Asked, summary: Summary, taken: int) -> Iterator[Event]:
        yield CompactionFailed(
            turn=self.desk.turn,
            edit=self.desk.numbers.edit,
            method=asked.method or "summary",
            trigger=asked.trigger,
            why=summary.problem,
            order=asked.order,
            by=asked.by,
            instructions=asked.instructions,
            tokens_before=self.desk.read().tokens,
            usage=summary.usage,
            cost=self.desk.cost(summary.usage, self.desk.summariser),
            ms=taken,
        )
        self.desk.numbers.edit += 1


def _span(shown: Sequence[Entry], start: int) -> list[Entry]:
    """What a compaction folds: everything before the cut but the pins."""
    return [entry for entry in shown[:start] if not entry.pinned]
