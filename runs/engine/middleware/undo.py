"""Undo: the window as it stood before an edit, with what came after. Files stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event, Form, Trigger
from ..messages import Message
from ..window.forms import oversized
from ..window.hands import Past, Unfit, came_after, undone
from ..window.versions import Entry, entries
from .base import Asked, Desk


def undo(desk: Desk, asked: Asked, edit: int, past: Past) -> Iterator[Event]:
    """Take back an edit, and every one made since then, in one new version. Raises Unfit where that does not fit."""
    upto, later = came_after(past)
    desk.window.know(past.messages)
    then = entries(past.before, desk.window.messages, upto)
    since = [_as_it_stands(desk, message) for message in later]
    bound = desk.llm.capability.thinking == "bound"
    drawn = desk.draw(
        undone(then, desk.window.entries, since, bound=bound),
        (),
        kind="undo",
        method="undo",
        trigger=Trigger.PERSON,
        order=asked.order,
        by=asked.by,
        reason=asked.reason or f"edit {edit} taken back",
        undoes=edit,
    )
    if drawn.tokens_after > max(desk.limit, drawn.tokens_before):
        raise Unfit(
            f"Without edit {edit} the window would have {drawn.tokens_after:,} tokens, more than its limit of "
            f"{desk.limit:,}. Nothing was taken back."
        )
    yield from desk.apply(drawn)
    desk.record.episode = past.episode
    desk.record.undone_at = desk.turn


def _as_it_stands(desk: Desk, message: Message) -> Entry:
    """As it stands now. What a later edit took out comes back, a large result as a preview."""
    for entry in desk.window.entries:
        if entry.message.number == message.number:
            return entry
    large = oversized(message, desk.shape, desk.window.calls())
    return Entry(message=message, form=Form.PREVIEW if large else Form.FULL)


def fresh_undo(desk: Desk) -> str:
    """Why the window is not worked on by itself just now: a person has taken back what was done to it."""
    since, wait = desk.turn - desk.record.undone_at, desk.policy.compact.min_new_turns
    if not desk.record.undone_at or since >= wait or desk.share() >= desk.policy.window.hard:
        return ""
    return f"a person took the last edit back {since} turns ago"
