"""Whose thinking may leave the window: that of finished turns of a person, never that of an open tool loop (W5).

A turn of a person runs from what they wrote to the answer that calls nothing. A cleared answer loses its thinking
whole, text and signature together: half a block is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..events import Form, Item
from ..messages import Kind, calls_of
from .head import without_thinking
from .lines import is_thinking
from .versions import Entry


def without_old_thinking(shown: Sequence[Entry], keep: int, *, bound: bool) -> list[Item] | None:
    """The window in which only the last `keep` turns of a person that thought still do; None when nothing may leave.

    `bound`: the llm signs thinking for what stands before it, so none may stay behind the first that leaves. Where
    that would cost an open tool loop its thinking, all of it stays.
    """
    spans = [span for span in _persons_turns(shown) if any(thinks(entry) for entry in span)]
    open_loop = bool(spans) and spans[-1][-1] is shown[-1] and not _is_finished(spans[-1])
    kept = spans[max(0, len(spans) - keep) :] if keep else []
    staying = [*kept, spans[-1]] if open_loop else kept
    protected = {entry.message.number for span in staying for entry in span}
    leaving = {
        entry.message.number for entry in shown if thinks(entry) and entry.message.number not in protected
    }
    if not leaving or (bound and open_loop):
        return None
    first = next(at for at, entry in enumerate(shown) if entry.message.number in leaving)
    return [
        without_thinking(entry) if entry.message.number in leaving or (bound and at > first) else entry.item
        for at, entry in enumerate(shown)
    ]


def thinks(entry: Entry) -> bool:
    """Whether thinking is sent with this entry."""
    full = entry.message.kind is Kind.ANSWER and entry.form is Form.FULL
    return full and any(is_thinking(block) for block in entry.message.content)


def _persons_turns(shown: Sequence[Entry]) -> list[list[Entry]]:
    """Cut before everything a person wrote."""
    spans: list[list[Entry]] = [[]]
    for entry in shown:
        if entry.message.is_persons and spans[-1]:
            spans.append([])
        spans[-1].append(entry)
    return [span for span in spans if span]


def _is_finished(span: Sequence[Entry]) -> bool:
    last = span[-1].message
    return last.kind is Kind.ANSWER and not calls_of(last.content)
