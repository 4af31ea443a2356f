"""An answer as server-sent events, at the pace of someone typing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .wire import Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`first_s` until the first token, then pieces of `piece` characters every `gap_s` seconds."""

    first_s: float
    gap_s: float
    piece: int


PACES = {
    "human": Pace(first_s=0.6, gap_s=0.045, piece=14),
    "fast": Pace(first_s=0.02, gap_s=0.001, piece=120),
    "none": Pace(first_s=0.0, gap_s=0.0, piece=400),
}
"""Human: about 80 tokens a second, so that a turn of the demo takes three seconds and can be read along."""


async def typed(
    said: Said, head: Mapping[str, Any], usage: Mapping[str, Any], pace: Pace
) -> AsyncIterator[bytes]:
    """All events of one answer. `head` is the message with empty content, `usage` the numbers at its end."""
    yield event({"type": "message_start", "message": head})
    if pace.first_s:
        await pause(pace.first_s)
    for index, block in enumerate(said.content):
        for piece in _block(index, block, pace.piece):
            yield event(piece)
            if pace.gap_s and piece["type"] == "content_block_delta":
                await pause(pace.gap_s)
    delta = {"stop_reason": said.stop_reason, "stop_sequence": None, "stop_details": said.stop_details}
    yield event({"type": "message_delta", "delta": delta, "usage": usage})
    yield event({"type": "message_stop"})


async def pause(seconds: float) -> None:
    """Someone types: the one place where time passes on purpose."""
    await asyncio.sleep(seconds)  # noqa: TID251  typing is the passing of time, there is nothing to wait for


_OURS = ("raw", "opened", "unsigned")


def whole(said: Said, head: Mapping[str, Any], usage: Mapping[str, Any]) -> dict[str, Any]:
    """The answer in one piece, for a client that does not stream."""
    content = [{key: value for key, value in block.items() if key not in _OURS} for block in said.content]
    end = {"stop_reason": said.stop_reason, "stop_details": said.stop_details, "usage": usage}
    return {**head, **end, "content": content}


def event(data: Mapping[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def _block(index: int, block: Mapping[str, Any], size: int) -> Iterator[Mapping[str, Any]]:
    """Start, deltas and stop of one block. A tool call may carry `raw`, its input as text of any shape."""
    yield {"type": "content_block_start", "index": index, "content_block": _opened(block)}
    for delta in _deltas(block, size):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _opened(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a block begins. A bad one may bring `opened`, its beginning as it likes."""
    if "opened" in block:
        return dict(block["opened"])
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
    return block


def _deltas(block: Mapping[str, Any], size: int) -> Iterator[Mapping[str, Any]]:
    match block["type"]:
        case "text":
            yield from ({"type": "text_delta", "text": piece} for piece in _cut(block["text"], size))
        case "thinking":
            yield from (
                {"type": "thinking_delta", "thinking": piece} for piece in _cut(block["thinking"], size)
            )
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            raw = block["raw"] if "raw" in block else json.dumps(block["input"], ensure_ascii=False)
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in _cut(raw, size))


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))
