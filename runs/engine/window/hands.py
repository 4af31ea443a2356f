"""What a person does to single entries, and how an edit is taken back: item lists, made of item lists.

A call and its results are one thing: they are pinned, released and dropped together, else one would stand without the
other. Each function gives the whole new window, or raises Unfit with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ..errors import EngineError
from ..events import Episode, Form, Item, Version
from ..messages import Author, Kind, Message, calls_of, results_of
from .head import without_thinking
from .versions import Entry

ADDS = ("compact", "clear")
"""Kinds of edits that write a new head: notes, episode, and the line to go on."""


class Unfit(EngineError):
    """That cannot be done to this window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What an undo goes back to. `before`: the version the edit was made on; `made`: (version, kind) of that edit and
    of each since then; `messages`: all that `before` names, and all later ones; `episode`: the one that stood then."""

    before: Version
    made: tuple[tuple[Version, str], ...]
    messages: tuple[Message, ...]
    episode: Episode | None = None


def pinned(shown: Sequence[Entry], number: int, *, bound: bool) -> list[Item]:
    """A message of the window stands word for word in every window from now on (W8), with what belongs to it."""
    chosen = {entry.message.number for entry in _group(shown, number)}
    product = next(entry for entry in shown if entry.message.number == number).message
    if product.kind is Kind.GOAL:
        raise Unfit("The goal stands in every window: it need not be pinned.")
    if product.author is Author.PRODUCT:
        raise Unfit("The product's own lines are written anew with each edit and cannot be pinned.")
    after = [_pin(entry) if entry.message.number in chosen else entry.item for entry in shown]
    if after == [entry.item for entry in shown]:
        raise Unfit(f"Message {number} is pinned already.")
    return _bare_behind(shown, after, bound=bound)


def unpinned(shown: Sequence[Entry], number: int) -> list[Item]:
    """The pin is taken out; the message stays where it is until an edit moves it."""
    chosen = {entry.message.number for entry in _group(shown, number) if entry.pinned}
    if not chosen:
        raise Unfit(f"Message {number} is not pinned.")
    return [
        replace(entry.item, pinned=entry.pinned and entry.message.number not in chosen) for entry in shown
    ]


def dropped(shown: Sequence[Entry], number: int, *, bound: bool) -> list[Item]:
    """A message leaves the window, with what belongs to it. The archive keeps it, recall finds it."""
    group = _group(shown, number)
    if any(entry.message.is_persons for entry in group):
        raise Unfit("The goal and what a person wrote stand in every window: they cannot be dropped.")
    if any(entry.pinned for entry in group):
        raise Unfit(f"Message {number} is pinned: take the pin out first.")
    gone = {entry.message.number for entry in group}
    after = [entry.item for entry in shown if entry.message.number not in gone]
    return _bare_behind(shown, after, bound=bound)


def undone(
    then: Sequence[Entry], shown: Sequence[Entry], later: Sequence[Entry], *, bound: bool
) -> list[Item]:
    """The window as it stood before an edit (`then`), and what came after it (`later`) behind that. Pins are those of
    now (`shown`). On a bound llm what was thought since then was signed for another window, and is left out."""
    pins = {entry.message.number: entry for entry in shown if entry.pinned}
    known = {entry.message.number for entry in (*then, *later)}
    strays = [without_thinking(entry) for number, entry in pins.items() if number not in known]
    old = [_held(entry, pins) for entry in then]
    since = [without_thinking(entry) if bound else entry.item for entry in later]
    first = next((at for at, entry in enumerate(then) if not entry.message.is_persons), len(then))
    return [*_bare_behind(then, [*old[:first], *strays, *old[first:]], bound=bound), *since]


def _held(entry: Entry, pins: Mapping[int, Entry]) -> Item:
    """As it stood then; what is pinned now stands word for word."""
    return _pin(entry) if entry.message.number in pins else replace(entry.item, pinned=False)


def added_by(after: Version, kind: str, messages: Mapping[int, Message]) -> set[int]:
    """Numbers of the head that an edit wrote: its last message is the line to go on, before it episode and notes."""
    if kind not in ADDS:
        return set()
    found, at = {after.base}, after.base - 1
    while at in messages and messages[at].kind in (Kind.EPISODE, Kind.NOTES):
        found.add(at)
        at -= 1
    return found


def came_after(past: Past) -> tuple[int, list[Message]]:
    """The last message that stood before the edit, and what came after it that no edit wrote."""
    known = {message.number: message for message in past.messages}
    heads: set[int] = set()
    for after, kind in past.made:
        heads |= added_by(after, kind, known)
    first, kind = past.made[0]
    upto = first.base - len(added_by(first, kind, known))
    return upto, [known[number] for number in sorted(known) if number > upto and number not in heads]


def _group(shown: Sequence[Entry], number: int) -> list[Entry]:
    """An answer and the results of its calls, or one message that stands alone."""
    at = next((at for at, entry in enumerate(shown) if entry.message.number == number), None)
    if at is None:
        raise Unfit(f"Message {number} does not stand in the window. What stands there can be worked on.")
    if shown[at].message.kind is Kind.RESULTS:
        at = max((spot for spot in range(at) if shown[spot].message.kind is Kind.ANSWER), default=at)
    found = [shown[at]]
    due = {block["id"] for block in calls_of(shown[at].message.content)}
    for entry in shown[at + 1 :]:
        if entry.message.kind is Kind.ANSWER or not due:
            break
        answers = {block["tool_use_id"] for block in results_of(entry.message.content)} & due
        found += [entry] if answers else []
        due -= answers
    if due:
        raise Unfit(
            f"The results of message {shown[at].message.number} are still to come: wait for the turn's end."
        )
    return found


def _pin(entry: Entry) -> Item:
    """Word for word: what was cleared or offloaded stands in full again. Thinking that was lost stays lost."""
    form = entry.form if entry.message.kind is Kind.ANSWER else Form.FULL
    return Item(message=entry.message.number, form=form, pinned=True)


def _bare_behind(before: Sequence[Entry], after: Sequence[Item], *, bound: bool) -> list[Item]:
    """On a bound llm: without thinking from the first entry on that is not as it was (W5)."""
    if not bound:
        return list(after)
    pairs = zip(before, after, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: _looks_alike(*pair), pairs))
    known = {entry.message.number: entry for entry in before}
    return [*after[:same], *(_bare(item, known.get(item.message)) for item in after[same:])]


def _looks_alike(entry: Entry, item: Item) -> bool:
    return (entry.message.number, entry.form) == (item.message, item.form)


def _bare(item: Item, entry: Entry | None) -> Item:
    """What stood in no window before has been bared already."""
    if entry is None:
        return item
    return replace(without_thinking(replace(entry, form=item.form)), pinned=item.pinned)
