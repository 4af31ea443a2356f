"""Clear results: at the mark, old tool results shrink to a marker, in one rare and deep batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import Checked, Edit, Event, Form, Item, Trigger
from ..messages import Kind
from ..window.forms import clearable
from ..window.head import without_thinking
from ..window.versions import Entry, Window
from .base import Asked, Desk, Technique, cleared, percent
from .undo import fresh_undo

FULL = (Form.FULL,)
"""A preview is small and names its file: it is cleared only where there is no other room."""


class ClearResults(Technique):
    """A sliding clearing would rewrite the cache every turn: this one clears much, seldom, or leaves it to compact."""

    name = "clear_results"

    def before_call(self, window: Window) -> Iterator[Event]:
        share, at = self.desk.share(), self.desk.policy.clear_at
        if share < at:
            yield self._checked(share, at, "not fired", f"{percent(share)} < {percent(at)}")
            return
        if taken_back := fresh_undo(self.desk):
            yield self._checked(share, at, "not fired", taken_back)
            return
        edit = self._draw(window, Asked())
        frees = edit.tokens_before - edit.tokens_after if edit else 0
        wanted = max(1, int(self.desk.policy.clear.frees * self.desk.mark))
        if edit is None or frees < wanted:
            why = f"would free {frees:,} tokens, less than {wanted:,}: left to compact"
            yield self._checked(share, at, "not fired", why)
            return
        yield self._checked(share, at, "fired", f"{percent(share)} ≥ {percent(at)}, frees {frees:,} tokens")
        yield from self.desk.apply(edit)

    def clear(self, asked: Asked) -> Iterator[Event]:
        """The same without the gate: by order, or because summaries fail. Nothing to clear: no event, no edit."""
        edit = self._draw(self.desk.window, asked)
        if edit is not None and edit.tokens_after < edit.tokens_before:
            yield from self.desk.apply(edit)

    def _draw(self, window: Window, asked: Asked) -> Edit | None:
        forms = FULL if asked.trigger is not Trigger.FALLBACK else (Form.FULL, Form.PREVIEW)
        items = cleared_items(self.desk, window.entries, self._keep(asked), forms)
        if items is None:
            return None
        return self.desk.draw(
            items,
            (),
            kind="clear_results",
            method="clear",
            trigger=asked.trigger,
            order=asked.order,
            by=asked.by,
            reason=asked.reason or f"{percent(self.desk.share())} ≥ {percent(self.desk.policy.clear_at)}",
        )

    def _keep(self, asked: Asked) -> int:
        return self.desk.policy.clear.keep if asked.keep is None else asked.keep

    def _checked(self, share: float, at: float, verdict: str, why: str) -> Event:
        return Checked(
            turn=self.desk.turn, technique=self.name, value=share, threshold=at, verdict=verdict, why=why
        )


def cleared_items(
    desk: Desk, shown: Sequence[Entry], keep: int, forms: Sequence[Form] = FULL
) -> list[Item] | None:
    """The window with all but the last `keep` result messages cleared, of those that stand in one of the `forms`;
    None when there is nothing to clear."""
    shape, calls = desk.shape, desk.window.calls()
    results = [entry for entry in shown if entry.message.kind is Kind.RESULTS]
    old = {entry.message.number for entry in results[: max(0, len(results) - keep)]}
    old = {
        entry.message.number
        for entry in shown
        if entry.message.number in old
        and entry.form in forms
        and not entry.pinned
        and any(clearable(block, shape, calls) for block in entry.message.content)
    }
    if not old:
        return None
    first = next(at for at, entry in enumerate(shown) if entry.message.number in old)
    bound = desk.llm.capability.thinking == "bound"
    return [_item(entry, at > first and bound, old) for at, entry in enumerate(shown)]


def _item(entry: Entry, loses_thinking: bool, old: set[int]) -> Item:
    if entry.message.number in old:
        return cleared(entry)
    return without_thinking(entry) if loses_thinking else entry.item
