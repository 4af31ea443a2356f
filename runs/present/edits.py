"""Edits of the window in words: rows of the feed, flags of the chart, lines of the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from runs.models import Edit, Event

from .people import person
from .rows import Row

BY = {"auto": "automatic", "person": "by order", "agent": "by the agent", "fallback": "fallback"}
TITLES = {
    "clear_thinking": "Old thinking cleared",
    "pin": "Pinned",
    "unpin": "Pin taken out",
    "drop": "Taken out of the window",
    "undo": "Edit taken back",
}
METHODS = {"summary": "", "clear": "results cleared", "both": "results cleared, the rest folded"}


def kind_of(edit: Edit) -> str:
    """compaction, clearing, offload, clear, or the edit's own kind: the words of the page."""
    if edit.episode is not None or edit.kind in ("compact", "compaction"):
        return "compaction"
    return {"clear_results": "clearing"}.get(edit.kind, edit.kind)


def number_of(edit: Edit) -> int:
    """The number on the flag: compactions count for themselves, by their episodes."""
    return edit.episode or edit.number


def who(edit: Edit) -> str:
    return f"by {person(edit.by)}" if edit.by else BY.get(edit.trigger, edit.trigger)


def why(edit: Edit) -> str:
    """Who wanted the edit, and for what reason: each said once."""
    reason = "" if edit.by and edit.reason == "by order" else edit.reason
    return ", ".join(part for part in (who(edit), reason) if part)


def rows(event: Event, edits: Mapping[int, Edit], finished: Collection[int]) -> Iterator[Row]:
    number = int(event.data["edit"])
    row = Row(
        id=f"e-edit-{number}", kind="compaction", seq=event.seq, turn=event.turn, at=event.at, link=number
    )
    edit = edits.get(number)
    if event.kind == "compaction.started":
        if number not in finished:
            yield replace(
                row,
                kind="writing",
                icon="compact",
                title="Writing the summary",
                detail=event.data.get("why", ""),
            )
    elif event.kind == "compaction.failed":
        why = str(event.data.get("why", ""))
        yield replace(
            row,
            kind="failed",
            icon="cross",
            title="Compaction failed, window unchanged",
            detail=why,
            css="err",
        )
    elif edit is not None:
        yield _of_edit(row, edit)


def _of_edit(row: Row, edit: Edit) -> Row:
    kind = kind_of(edit)
    about: dict[str, Any] = {
        "before": edit.tokens_before,
        "after": edit.tokens_after,
        "cost": edit.cost,
        "ms": edit.ms or None,
    }
    detail = ", ".join(part for part in (why(edit), METHODS.get(edit.method, "")) if part)
    if kind == "compaction":
        return replace(
            row, title=f"Compaction {number_of(edit)}", icon="compact", css="cut", detail=detail, **about
        )
    if kind == "clear":
        return replace(row, title="Window cleared", icon="clear", css="cut", detail=detail, **about)
    if kind == "clearing":
        return replace(row, kind="shrink", title="Old results cleared", icon="broom", detail=detail, **about)
    if kind == "offload":
        return replace(row, kind="shrink", title="Result offloaded", icon="box", detail=detail, **about)
    title = TITLES.get(kind, f"Window changed: {kind}")
    return replace(row, kind="shrink", title=title, icon="diff", detail=detail, **about)
