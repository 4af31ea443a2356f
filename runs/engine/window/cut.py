"""Where the kept tail begins: always just before an answer whose calls are all answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..messages import Kind, Role, calls_of, results_of
from .versions import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """How much of the tail stays: `tokens`, or `messages` while they are under `cap` tokens. Tokens win over counts."""

    tokens: int
    messages: int
    cap: int


def tail_start(entries: Sequence[Entry], sizes: Sequence[int], keep: Keep) -> int:
    """Index of the first kept entry. The last turn always stays; len(entries) only when nothing may be kept."""
    legal = legal_cuts(entries)
    if not legal:
        return len(entries)
    chosen = legal[-1]
    if not keep.tokens and not keep.messages:
        return len(entries) if is_closed(entries) else chosen
    size = sum(sizes[chosen:])
    for at in reversed(legal[:-1]):
        size += sum(sizes[at:chosen])
        fits = size <= keep.tokens or (len(entries) - at <= keep.messages and size <= keep.cap)
        if not fits:
            break
        chosen = at
    return chosen


def last_turn(entries: Sequence[Entry]) -> int:
    """Index of the newest answer, with which the last turn begins; len(entries) where there is none."""
    places = range(len(entries) - 1, 0, -1)
    return next((at for at in places if entries[at].message.role is Role.ASSISTANT), len(entries))


def messages_start(entries: Sequence[Entry], count: int) -> int:
    """Index of the first kept entry when a person asked for `count` messages: at most so many, from a legal cut on."""
    wanted = len(entries) - count
    legal = legal_cuts(entries)
    after = [at for at in legal if at >= wanted]
    if after:
        return after[0]
    return legal[-1] if legal and not is_closed(entries) else len(entries)


def legal_cuts(entries: Sequence[Entry]) -> list[int]:
    """Every index that stands just before an answer; no call is cut from its result there."""
    return [at for at, entry in enumerate(entries) if at and entry.message.role is Role.ASSISTANT]


def is_closed(entries: Sequence[Entry]) -> bool:
    """True when every call of the newest answer has its result in the window."""
    answered = {block["tool_use_id"] for entry in entries for block in results_of(entry.message.content)}
    for entry in reversed(entries):
        if entry.message.kind is Kind.ANSWER:
            return all(call["id"] in answered for call in calls_of(entry.message.content))
    return True
