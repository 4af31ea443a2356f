"""Offload: a result too large for the window goes to the run's files at once; head, tail and a path stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import tokens
from ..events import Event, Form, Item, Trigger
from ..messages import Kind
from ..window.cut import last_turn
from ..window.forms import oversized
from ..window.versions import Entry, Window
from .base import Technique


class Offload(Technique):
    """Acts right after the results are in, before they are ever sent: the prefix stays as the cache knows it."""

    name = "offload"

    def before_call(self, window: Window) -> Iterator[Event]:
        """For what a person said since the last turn."""
        yield from self.after_turn(window)

    def after_turn(self, window: Window) -> Iterator[Event]:
        yield from self.offload(_unsent(window), window)

    def offload(self, fresh: Sequence[Entry], window: Window) -> Iterator[Event]:
        """Offload those of these entries that are too large: one edit, or none."""
        wanted = [entry for entry in fresh if self._too_large(entry, window)]
        if not wanted:
            return
        chosen = {entry.message.number for entry in wanted}
        items = [self._item(entry, chosen) for entry in window]
        why = self._why(wanted)
        edit = self.desk.draw(items, (), kind="offload", method="offload", trigger=Trigger.AUTO, reason=why)
        if edit.tokens_after < edit.tokens_before:
            yield from self.desk.apply(edit)

    def _too_large(self, entry: Entry, window: Window) -> bool:
        if entry.form is not Form.FULL or entry.pinned or entry.message.kind not in (Kind.RESULTS, Kind.SAY):
            return False
        return bool(oversized(entry.message, self.desk.shape, window.calls()))

    def _item(self, entry: Entry, chosen: set[int]) -> Item:
        form = Form.PREVIEW if entry.message.number in chosen else entry.form
        return Item(message=entry.message.number, form=form, pinned=entry.pinned)

    def _why(self, wanted: Sequence[Entry]) -> str:
        size, shape = sum(tokens.of_content(entry.message.content) for entry in wanted), self.desk.shape
        said = [entry for entry in wanted if entry.message.kind is Kind.SAY]
        what, most = ("a message", shape.message_tokens) if said else ("results", shape.result_tokens)
        return f"{size:,} tokens of {what} > {most:,}"


def _unsent(window: Window) -> list[Entry]:
    """What came after the newest answer: the llm has not seen it, so no cached prefix and no thinking depends on it."""
    shown = window.entries
    newest = last_turn(shown)
    return list(shown[newest + 1 :] if newest < len(shown) else shown)
