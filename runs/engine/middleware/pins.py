"""Pins: a person holds an entry in the window, releases it, or takes one out. Each writes a version (W8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import Event, Item, Trigger
from ..window.hands import Unfit, dropped, pinned, unpinned
from .base import Asked, Desk


def pin(desk: Desk, asked: Asked, message: int) -> Iterator[Event]:
    """The message and what belongs to it stand word for word in every window from now on. Raises Unfit."""
    yield from _apply(desk, asked, "pin", pinned(desk.window.entries, message, bound=_bound(desk)))


def unpin(desk: Desk, asked: Asked, message: int) -> Iterator[Event]:
    """Raises Unfit where no pin is."""
    yield from _apply(desk, asked, "unpin", unpinned(desk.window.entries, message))


def drop(desk: Desk, asked: Asked, message: int) -> Iterator[Event]:
    """The message and what belongs to it leave the window; the archive keeps them. Raises Unfit."""
    yield from _apply(desk, asked, "drop", dropped(desk.window.entries, message, bound=_bound(desk)))


def _apply(desk: Desk, asked: Asked, kind: str, items: Sequence[Item]) -> Iterator[Event]:
    edit = desk.draw(
        items,
        (),
        kind=kind,
        method=kind,
        trigger=Trigger.PERSON,
        order=asked.order,
        by=asked.by,
        reason=asked.reason or "by order",
    )
    if edit.tokens_after > max(desk.limit, edit.tokens_before):
        raise Unfit(
            f"The window would have {edit.tokens_after:,} tokens, more than its limit of {desk.limit:,}. "
            "Compact it first, or read the original with read_archive."
        )
    yield from desk.apply(edit)


def _bound(desk: Desk) -> bool:
    return desk.llm.capability.thinking == "bound"
