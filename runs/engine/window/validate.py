"""The strict validator: W1-W7 of what is about to be sent. An empty answer means it may go.

Stricter than the API where other endpoints are: roles alternate, the first and the last message are the person's side.
Source of the rules: the API's validation messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..messages import Block, Role
from .repair import Line

MOST_MARKS = 4
MOST_MESSAGES = 100_000
MOST_BYTES = 32 * 1024 * 1024


def problems(lines: Sequence[Line]) -> list[str]:
    """What the API, or another endpoint, would refuse; [] when clean. Positions count from 0."""
    return list(_problems(lines))


def _problems(lines: Sequence[Line]) -> Iterator[str]:
    if not lines:
        yield "messages: at least one message is required"
        return
    if lines[0].role is not Role.USER:
        yield "messages.0: the first message must be the user's"
    if lines[-1].role is not Role.USER:
        yield f"messages.{len(lines) - 1}: the last message must be the user's"
    if len(lines) > MOST_MESSAGES:
        yield f"messages: {len(lines)} are more than {MOST_MESSAGES}"
    seen: set[str] = set()
    calls: list[str] = []
    for at, line in enumerate(lines):
        if at and lines[at - 1].role is line.role:
            yield f"messages.{at}: two neighbours have the role {line.role.value}"
        yield from _blanks(at, line)
        yield from _pairs(at, line, calls)
        calls = _calls(line)
        for call in calls:
            if call in seen:
                yield f"messages.{at}: the call id {call!r} is used twice"
            seen.add(call)
        yield from _ends_well(at, line)


def _calls(line: Line) -> list[str]:
    return [str(block["id"]) for block in line.blocks if block["type"] == "tool_use"]


def _blanks(at: int, line: Line) -> Iterator[str]:
    if not line.blocks:
        yield f"messages.{at}: empty"
    for spot, block in enumerate(line.blocks):
        for part in (block, *_inner(block)):
            if part["type"] == "text" and not part["text"].strip():
                yield f"messages.{at}.content.{spot}: blank text"
        if block["type"] == "thinking" and not block.get("signature"):
            yield f"messages.{at}.content.{spot}: thinking without a signature"


def _inner(block: Block) -> Sequence[Block]:
    content = block.get("content")
    return content if block["type"] == "tool_result" and isinstance(content, list | tuple) else ()


def _pairs(at: int, line: Line, calls: Sequence[str]) -> Iterator[str]:
    results = [str(block["tool_use_id"]) for block in line.blocks if block["type"] == "tool_result"]
    if line.role is Role.USER and results != list(calls):
        yield f"messages.{at}: results {results} do not answer the calls {list(calls)} in their order"
    if line.role is Role.ASSISTANT and (calls or results):
        yield f"messages.{at}: a call is not answered in the next message"
    types = [block["type"] == "tool_result" for block in line.blocks]
    if types != sorted(types, reverse=True):
        yield f"messages.{at}: results must come first"


def _ends_well(at: int, line: Line) -> Iterator[str]:
    if (
        line.role is Role.ASSISTANT
        and line.blocks
        and line.blocks[-1]["type"] in ("thinking", "redacted_thinking")
    ):
        yield f"messages.{at}: the final block of an answer cannot be thinking"
