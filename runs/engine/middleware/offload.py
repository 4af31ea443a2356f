"""Offload: a result too large for the window goes to the run's files at once; head, tail and a path stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import Event, Form, Item, Trigger
from ..messages import Kind
from ..window.forms import offloaded_files, oversized
from ..window.versions import Entry, Window
from .base import Technique


class Offload(Technique):
    """Acts right after the results are in, before they are ever sent: the prefix stays as the cache knows it."""

    name = "offload"

    def before_call(self, window: Window) -> Iterator[Event]:
        """For what a person said since the last turn."""
        yield from self.after_turn(window)

    def after_turn(self, window: Window) -> Iterator[Event]:
        yield from self.offload([entry for entry in window if entry.message.number > window.version.base], window)

    def offload(self, fresh: Sequence[Entry], window: Window) -> Iterator[Event]:
        """Offload those of these entries that are too large: one edit, or none."""
        wanted = [entry for entry in fresh if self._too_large(entry, window)]
        if not wanted:
            return
        for entry in wanted:
            self._write(entry, window)
        chosen = {entry.message.number for entry in wanted}
        items = [self._item(entry, chosen) for entry in window]
        edit = self.desk.draw(items, (), kind="offload", method="offload", trigger=Trigger.AUTO, reason=self._why(wanted))
        measured = self.desk.gauge.last
        yield from self.desk.apply(edit)
        # Only the unsent tail changed, so what usage told of the part before it is still true.
        if measured:
            self.desk.gauge.carry(measured, edit.after.number)

    def _too_large(self, entry: Entry, window: Window) -> bool:
        if entry.form is not Form.FULL or entry.message.kind not in (Kind.RESULTS, Kind.SAY):
            return False
        return bool(oversized(entry.message, self.desk.shape, window.calls()))

    def _write(self, entry: Entry, window: Window) -> None:
        for name, text in offloaded_files(entry.message, self.desk.shape, window.calls()).items():
            self.desk.files.write(name, text)

    def _item(self, entry: Entry, chosen: set[int]) -> Item:
        form = Form.PREVIEW if entry.message.number in chosen else entry.form
        return Item(message=entry.message.number, form=form, pinned=entry.pinned)

    def _why(self, wanted: list[Entry]) -> str:
        size = sum(self.desk.sizes(wanted))
        return f"{size:,} tokens of results > {self.desk.shape.result_tokens:,}"
