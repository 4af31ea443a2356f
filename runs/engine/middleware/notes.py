"""Notes: what the agent writes down stands in the window after every compaction and clear."""

from __future__ import annotations

from collections.abc import Sequence

from ..ports import Tool
from ..tools.notes import ReadNotes, TakeNote, UpdateNote
from .base import Technique


class Notes(Technique):
    """Outside what is summarised, so no summary can lose or reword them. The head is made in window/head."""

    name = "notes"

    def tools(self) -> Sequence[Tool]:
        return (TakeNote(), UpdateNote(), ReadNotes()) if self.desk.policy.notes.on else ()

    def prompt(self) -> str:
        if not self.desk.policy.notes.on:
            return ""
        return (
            "After each important decision, new problem or finished stage, take a note first, then go on. "
            "Read your notes at the start and after a summary. Do not note what the code or the tests already say."
        )
