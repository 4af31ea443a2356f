"""Notes: what the agent writes down stands in the window after every compaction and clear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import Event
from ..ports import Tool
from ..tools.beneath import PathTrouble, root
from ..tools.notes import SECTIONS, ReadNotes, TakeNote, UpdateNote, newest, told
from ..window.versions import Window
from .base import Technique


class Notes(Technique):
    """Outside what is summarised, so no summary can lose or reword them. The head is made in window/head."""

    name = "notes"
    mirrored = ""

    def after_turn(self, window: Window) -> Iterator[Event]:
        """A file says what the notebook says: a person reads along, `read_file` does too."""
        told_now = told(newest(list(self.desk.notes.values())), SECTIONS)
        if told_now != self.mirrored and self._mirror(f"{told_now}\n"):
            self.mirrored = told_now
        yield from ()

    def _mirror(self, lines: str) -> bool:
        """Whether it could be written. In a workspace the file bears the run's name: others work there too."""
        if self.desk.policy.notes.mirror == "run":
            self.desk.files.write("NOTES.md", lines)
            return True
        try:
            with root(self.desk.workspace) as workspace:
                workspace.write(f"NOTES-{self.desk.slug}.md", lines.encode())
        except PathTrouble:  # tools tell of a workspace that is away; the next turn tries again
            return False
        return True

    def tools(self) -> Sequence[Tool]:
        return (TakeNote(), UpdateNote(), ReadNotes()) if self.desk.policy.notes.on else ()

    def prompt(self) -> str:
        if not self.desk.policy.notes.on:
            return ""
        return (
            "After each important decision, new problem or finished stage, take a note first, then go on. "
            "Read your notes at the start and after a summary. Do not note what the code or the tests already say."
        )
