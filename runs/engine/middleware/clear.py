"""Clear: the window restarts with the goal, the person's messages, the pins and the notes. No llm call."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event, Trigger
from ..window.head import item_of, kept_first
from .base import Asked, Desk


def clear(desk: Desk, asked: Asked) -> Iterator[Event]:
    """By order of a person only. What leaves is dropped, not folded: it stays in the archive."""
    added = desk.head()
    items = [*kept_first(desk.window.entries), *map(item_of, added)]
    edit = desk.draw(
        items,
        added,
        kind="clear",
        method="clear",
        trigger=Trigger.PERSON,
        order=asked.order,
        by=asked.by,
        reason=asked.reason or "by order",
    )
    yield from desk.apply(edit)
