"""Clear: the window restarts with the goal, the person's messages, the pins and the notes. No llm call."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event, Trigger
from ..window.cut import is_closed, last_turn
from ..window.head import item_of, without_thinking
from .base import Asked, Desk


def clear(desk: Desk, asked: Asked) -> Iterator[Event]:
    """By order of a person only. What leaves is dropped, not folded: it stays in the archive.

    A turn whose results are still to come keeps its answer. Where nothing would get smaller: no event, no edit.
    """
    shown = desk.window.entries
    start = len(shown) if is_closed(shown) else last_turn(shown)
    bare = desk.llm.capability.thinking == "bound"
    open_turn = [without_thinking(entry) if bare else entry.item for entry in shown[start:]]
    added = desk.head()
    edit = desk.draw(
        [*desk.first(shown, start), *map(item_of, added), *open_turn],
        added,
        kind="clear",
        method="clear",
        trigger=Trigger.PERSON,
        order=asked.order,
        by=asked.by,
        reason=asked.reason or "by order",
    )
    if edit.tokens_after < edit.tokens_before:
        yield from desk.apply(edit)
