"""One entry of an edit in words: what stood before, what stands after, which identifiers are gone."""

from __future__ import annotations

from dataclasses import dataclass

from runs.engine.window.diff import Fate
from runs.models import Edit, Episode, Run

from . import diff_labels, diff_text
from .diff import Row
from .diff_labels import Name
from .diff_read import Found, read
from .diff_text import Line, Side

MOST_LOST = 24


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`lost`: names, paths and numbers of the entry that the window after does not hold anywhere."""

    key: str
    name: Name
    turn: int
    row: Row
    who: str
    lines: tuple[Line, ...]
    lost: tuple[str, ...]
    lost_more: int
    said: str


def entry(run: Run, edit: Edit, key: str) -> Entry:
    """Raises LookupError for a key that is no entry of either window."""
    found = read(run, edit)
    row = next((one for one in found.comparison.rows if one.key == key), None)
    if row is None:
        raise LookupError(f"There is no entry {key} in edit {edit.number}.")
    before, after = _texts(found, row)
    who = found.message(row.message).author.value if row.message else "product"
    lost = (
        _lost(found, before) if row.fate in (Fate.FOLDED, Fate.DROPPED, Fate.CLEARED, Fate.OFFLOADED) else []
    )
    return Entry(
        key=key,
        name=found.name(row),
        turn=found.turn(key),
        row=row,
        who=who,
        lines=tuple(_lines(row, before, after, lost)),
        lost=tuple(lost[:MOST_LOST]),
        lost_more=max(len(lost) - MOST_LOST, 0),
        said=_where(run, edit, row, who),
    )


def _texts(found: Found, row: Row) -> tuple[str, str]:
    """The entry as it was sent before and after, '' where it did not stand."""
    if not row.message:
        frame = found.sizes.frame
        text = (
            diff_labels.readable(frame.system) if row.key == "system" else "\n".join(map(_tool, frame.tools))
        )
        return text, text
    was, now = found.before.get(row.message), found.after.get(row.message)
    before = diff_labels.readable(found.sizes.blocks(was.entry)) if was else ""
    return before, diff_labels.readable(found.sizes.blocks(now.entry)) if now else ""


def _tool(tool: object) -> str:
    return f"{tool['name']}: {tool.get('description', '')}" if isinstance(tool, dict) else str(tool)


def _lines(row: Row, before: str, after: str, lost: list[str]) -> list[Line]:
    if row.before is None:
        return diff_text.one_sided(after, Side.NEW)
    if row.after is None:
        return diff_text.marked(before, lost)
    if before == after:
        return diff_text.one_sided(after, Side.SAME)
    return diff_text.diff(before, after)


def _lost(found: Found, text: str) -> list[str]:
    """Identifiers that stand nowhere in the window after."""
    left = "\n".join(diff_labels.readable(found.sizes.blocks(sized.entry)) for sized in found.after.values())
    tools = {str(tool["name"]) for tool in found.sizes.frame.tools}
    return [word for word in diff_text.identifiers(text) if word not in left and word not in tools]


def _where(run: Run, edit: Edit, row: Row, who: str) -> str:
    """Where the entry went, in a sentence."""
    size = f"{row.tokens_after:,} tokens"
    match row.fate:
        case Fate.FOLDED:
            told = Episode.objects.filter(run=run, number=edit.episode or 0).first()
            return f"folded into summary {told.number}" if told else "folded"
        case Fate.CLEARED if who == "llm":
            return f"its thinking is left out, {size} stand: it was bound to what stood before it"
        case Fate.CLEARED:
            return f"a marker of {size} stands in its place"
        case Fate.OFFLOADED:
            return f"head, tail and a path stand in its place, {size}"
        case Fate.DROPPED:
            return "left the window; the archive has it"
        case Fate.ADDED:
            return "written by this edit"
        case Fate.RE_ENTERED:
            return "written anew from the notes as they stand" if row.after else "its newest words re-entered"
        case Fate.PINNED:
            return "stays word for word in every window"
    return "stands unchanged"
