"""The notebook's tools: take_note, update_note, read_notes. What is noted survives every compaction.

A note's number follows from the notes there are, and the result is committed together with the note: a call
that is tried again with the same key finds either both or neither. A note that stands already is not written
twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from runs.engine.events import Effect, Note, NoteChanged
from runs.engine.messages import Author
from runs.engine.ports import Tool, ToolContext, ToolResult

from .base import Given, refused

Section = Literal["decisions", "pending", "facts", "errors"]
SECTIONS: tuple[Section, ...] = ("decisions", "pending", "facts", "errors")
LONGEST = 2_000
Text = Annotated[
    str, Field(min_length=1, max_length=LONGEST, description="One or two lines, complete in themselves.")
]


class TakeNote:
    name = "take_note"
    effect = Effect.IDEMPOTENT
    description = (
        "Write a line into your notebook. After each important decision, new problem or finished stage, "
        "take a note first, then go on: the notes stand in every window, while older messages are "
        "summarised or cleared. Sections: decisions (what was decided and why), pending (what is still to "
        "do), facts (exact data you will need: names, paths, numbers), errors (what went wrong, and whether "
        "it is solved). Back comes the note's number."
    )

    class Input(Given):
        section: Section
        text: Text

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        text = given.text.strip()
        if not text:
            return refused("The note is blank. Write what is to be remembered.")
        notes = newest(context.notes())
        for note in notes:
            if (note.section, note.text, note.state) == (given.section, text, "open"):
                return ToolResult(content=f"Note {note.number} says that already.")
        note = Note(
            number=max((note.number for note in notes), default=0) + 1,
            revision=1,
            section=given.section,
            text=text,
            state="open",
            author=Author.LLM.value,
            by="",
            turn=context.turn,
        )
        return _changed(note, f"Noted: {line_of(note)}", context)


class UpdateNote:
    name = "update_note"
    effect = Effect.IDEMPOTENT
    description = (
        "Change a note by its number: give a new `text`, or set `state` to done when what it says is "
        "finished or no longer holds (done notes leave the window), or to open again. Keep pending up to "
        "date: close what is done before you take up the next thing. Back comes the note as it now stands."
    )

    class Input(Given):
        number: Annotated[int, Field(ge=1, description="The note's number.")]
        text: Text | None = None
        state: Literal["open", "done"] | None = None

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if given.text is None and given.state is None:
            return refused("Nothing to change. Give a new `text`, or a `state` (open or done).")
        notes = newest(context.notes())
        old = next((note for note in notes if note.number == given.number), None)
        if old is None:
            known = ", ".join(str(note.number) for note in notes) or "none yet"
            return refused(f"There is no note {given.number}. Notes: {known}. read_notes shows them.")
        text, state = (given.text or "").strip() or old.text, given.state or old.state
        if (text, state) == (old.text, old.state):
            return ToolResult(content=f"The note stands so already: {line_of(old)}")
        note = Note(
            number=old.number,
            revision=old.revision + 1,
            section=old.section,
            text=text,
            state=state,
            author=Author.LLM.value,
            by="",
            turn=context.turn,
        )
        return _changed(note, f"Now: {line_of(note)}", context)


class ReadNotes:
    name = "read_notes"
    effect = Effect.PURE
    description = (
        "Read your notebook, all of it or one section, with numbers and with the notes that are done. You "
        "need it rarely: the open notes stand in your window."
    )

    class Input(Given):
        section: Section | None = None

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        wanted = SECTIONS if given.section is None else (given.section,)
        text = told(newest(context.notes()), wanted)
        return ToolResult(content=text or "No notes yet. take_note writes one.")


def tools() -> tuple[Tool, ...]:
    """What the technique `notes` brings."""
    return (TakeNote(), UpdateNote(), ReadNotes())


def newest(notes: Sequence[Note]) -> list[Note]:
    """The newest revision of each note, by number."""
    latest: dict[int, Note] = {}
    for note in sorted(notes, key=lambda note: (note.number, note.revision)):
        latest[note.number] = note
    return list(latest.values())


def told(notes: Sequence[Note], sections: Sequence[str]) -> str:
    """The notes a section each, '' where there are none."""
    parts = []
    for section in sections:
        lines = [line_of(note) for note in notes if note.section == section]
        if lines:
            parts.append("\n".join([f"{section}:", *lines]))
    return "\n".join(parts)


def line_of(note: Note) -> str:
    """`3 [open] text`, and who wrote it where that was not the agent."""
    by = f" (by {note.by or note.author})" if note.author == Author.PERSON.value else ""
    return f"{note.number} [{note.state}] {note.text}{by}"


def _changed(note: Note, sentence: str, context: ToolContext) -> ToolResult:
    return ToolResult(content=sentence, events=(NoteChanged(turn=context.turn, note=note),))
