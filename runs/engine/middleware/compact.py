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
from ..messages import Kind, Message
from ..policy.model import smaller
from ..window.cut import Keep, messages_start, tail_start
from ..window.head import item_of, kept_first, without_thinking
from ..window.ledger import ledger
from ..window.versions import Entry, Window
from .base import Asked, Technique, cleared, percent
from .clear_results import ClearResults, cleared_items
from .summary import Summary, is_work, summarise, without_known

FALLBACK = (
    "No summary could be made of these turns ({why}). The identifiers below were found by code; "
    "read_archive and recall give the rest."
)


class Compact(Technique):
    """The button and the mark take the same path; only the gate before it differs."""

    name = "compact"

    def before_call(self, window: Window) -> Iterator[Event]:
        share, at = self.desk.share(), self.desk.policy.compact_at
        hold = self._hold(share, at)
        if hold:
            yield self._checked(share, at, "not fired", hold)
            return
        why = f"{percent(share)} ≥ {percent(at)}" if share >= at else "by the number of turns"
        yield self._checked(share, at, "fired", why)
        failing = self.desk.record.failures > 0 and share >= self.desk.policy.window.hard
        trigger = Trigger.FALLBACK if failing else Trigger.AUTO
        yield from self.compact(Asked(trigger=trigger, method=self.desk.policy.compact.method, reason=why))

    def _hold(self, share: float, at: float) -> str:
        """Why it does not fire now; '' when it does. Raises WindowHeld at the hard mark when auto is off."""
        policy, record = self.desk.policy, self.desk.record
        hard = share >= policy.window.hard
        due = policy.compact.every_turns and self.desk.turn - record.compacted_at > policy.compact.every_turns
        if share < at and not due:
            return f"{percent(share)} < {percent(at)}"
        if policy.compact.auto == "off":
            if hard:
                raise WindowHeld
            return "the policy compacts only by order"
        if hard:
            return ""
        fresh = self.desk.turn - record.compacted_at
        if record.compacted_at and fresh < policy.compact.min_new_turns:
            return f"only {fresh} new turns since the last compaction"
        wait = record.failed_at + 2**record.failures - self.desk.turn if record.failures else 0
        return f"the last summary failed, next try in {wait} turns" if wait > 0 else ""

    def _checked(self, share: float, at: float, verdict: str, why: str) -> Event:
        return Checked(
            turn=self.desk.turn, technique=self.name, value=share, threshold=at, verdict=verdict, why=why
        )

    def compact(self, asked: Asked) -> Iterator[Event]:
        """Fold all but the tail. Ends in one WindowEdited, or in one CompactionFailed that changed nothing."""
        if asked.method == "clear":
            yield from self._clear_only(asked)
            return
        shown = self.desk.window.entries
        start = self._start(shown, asked.keep)
        span = [entry for entry in shown[:start] if not entry.pinned]
        if not any(is_work(entry) for entry in span):
            yield from self._fail(asked, Summary(problem="nothing to compact"), 0)
            return
        yield CompactionStarted(turn=self.desk.turn, edit=self.desk.numbers.edit, why=asked.reason or "by order")
        began = self.desk.clock.now_ms()
        found = self._ledger(span)
        try:
            summary = self._summary(span, found, asked)
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

    def _summary(self, span: Sequence[Entry], found: str, asked: Asked) -> Summary:
        if asked.trigger is Trigger.FALLBACK:
            return Summary(text=FALLBACK.format(why="summaries keep failing"))
        return summarise(self.desk, [entry for entry in span if not entry.message.is_persons], found, asked.instructions)

    def _start(self, shown: Sequence[Entry], keep: int | None) -> int:
        if keep is not None:
            return messages_start(shown, keep)
        policy, limit = self.desk.policy.compact, self.desk.limit
        rule = Keep(
            tokens=int(policy.keep * limit), messages=policy.keep_messages, cap=int(policy.keep_cap * limit)
        )
        return tail_start(shown, self.desk.sizes(shown), rule)

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
        added = self.desk.head(episode)
        first = [*kept_first(shown[:start]), *map(item_of, added)]
        edit = self._smallest_that_fits(first, shown, start, added, episode, summary, asked, taken)
        if edit.tokens_after >= edit.tokens_before:
            why = f"compaction would not help: {edit.tokens_before:,} to {edit.tokens_after:,} tokens, not smaller"
            yield from self._give_up(asked, Summary(problem=why, usage=summary.usage), taken)
            return
        yield from self.desk.apply(edit)
        record = self.desk.record
        record.compacted_at, record.episode, record.failures = self.desk.turn, episode, 0
        self.desk.numbers.episode += 1

    def _smallest_that_fits(
        self,
        first: Sequence[Item],
        shown: Sequence[Entry],
        start: int,
        added: Sequence[Message],
        episode: Episode,
        summary: Summary,
        asked: Asked,
        taken: int,
    ) -> Edit:
        """W9: at most half of the mark stays. Else the tail shrinks to the last turn, then its results are cleared."""
        best: Edit | None = None
        for tail in self._tails(shown, start, asked):
            edit = self.desk.draw(
                [*first, *tail],
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
                cost=self.desk.cost(summary.usage),
                ms=taken,
            )
            best = edit if best is None or edit.tokens_after < best.tokens_after else best
            if best.tokens_after <= self.desk.mark // 2 or asked.keep is not None:
                break
        assert best is not None
        return best

    def _tails(self, shown: Sequence[Entry], start: int, asked: Asked) -> Iterator[list[Item]]:
        bare = self.desk.llm.capability.thinking == "bound"
        tail = list(shown[start:])
        if asked.method == "both":
            yield cleared_items(self.desk, tail, 0) or self._items(tail, bare)
        else:
            yield self._items(tail, bare)
        last = tail_start(shown, [0] * len(shown), Keep(tokens=-1, messages=0, cap=-1))
        if last >= len(shown) or last < start:
            return
        lost = kept_first(shown[start:last])
        yield [*lost, *self._items(shown[last:], bare)]
        yield [*lost, *(self._least(entry) for entry in shown[last:])]

    def _items(self, tail: Sequence[Entry], bare: bool) -> list[Item]:
        return [without_thinking(entry) if bare else entry.item for entry in tail]

    def _least(self, entry: Entry) -> Item:
        if entry.message.kind is Kind.RESULTS and entry.form is Form.FULL:
            return cleared(entry)
        return without_thinking(entry)

    def _episode(self, span: Sequence[Entry], summary: Summary, found: str) -> Episode:
        turns = [entry.message.turn for entry in span if is_work(entry)]
        folds = self.desk.record.episode if any(entry.message.kind is Kind.EPISODE for entry in span) else None
        text = without_known(summary.text, found)
        return Episode(
            number=self.desk.numbers.episode,
            first_turn=min(turns),
            last_turn=max(turns),
            text=text,
            ledger=found,
            tokens=tokens.estimate(text) + tokens.estimate(found),
            folds=folds.number if folds else 0,
        )

    def _give_up(self, asked: Asked, summary: Summary, taken: int) -> Iterator[Event]:
        """Nothing changes. While summaries fail by themselves, old results are cleared deep instead."""
        yield from self._fail(asked, summary, taken)
        if asked.trigger is Trigger.PERSON:
            return
        self.desk.record.failures += 1
        self.desk.record.failed_at = self.desk.turn
        technique = ClearResults()
        technique.start(self.desk)
        yield from technique.clear(Asked(trigger=Trigger.FALLBACK, reason=f"the summary failed: {summary.problem}"))

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
            cost=self.desk.cost(summary.usage),
            ms=taken,
        )
        self.desk.numbers.edit += 1
