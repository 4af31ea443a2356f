"""Problems of a list that is about to be sent, each with the word of the rule it breaks. Apart from the engine's own
validator, so that one mistake cannot hide in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]


def blocks_of(message: Message) -> Sequence[Message]:
    """The blocks of a message that is sent, as they are."""
    content = message["content"]
    blocks: Sequence[Message] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return blocks


def problems(messages: Sequence[Message]) -> list[str]:
    return list(_problems(messages))


def _problems(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        before = messages[at - 1] if at else None
        if not blocks:
            yield f"{at}: no_blank: empty content"
        if before and before["role"] == message["role"]:
            yield f"{at}: alternate"
        yield from _of_blocks(at, blocks)
        for call in _ids(blocks, "tool_use", "id"):
            if call in seen:
                yield f"{at}: unique_ids {call[:40]}"
            seen.add(call)
        yield from _pairs(at, message, blocks_of(before) if before else [])
        yield from _server_pairs(at, blocks)
    if messages and messages[0]["role"] != "user":
        yield "starts_user"
    if messages and messages[-1]["role"] != "user":
        yield "ends_user"


def _ids(blocks: Sequence[Message], kind: str, key: str) -> list[str]:
    return [block[key] for block in blocks if block["type"] == kind]


def _of_blocks(at: int, blocks: Sequence[Message]) -> Iterator[str]:
    lists = [block["content"] for block in blocks if isinstance(block.get("content"), list)]
    for block in [*blocks, *(part for parts in lists for part in parts)]:
        if block["type"] == "text" and not block["text"].strip():
            yield f"{at}: no_blank"
        if block["type"] == "thinking" and not block.get("signature"):
            yield f"{at}: no_unsigned_thinking"


def _pairs(at: int, message: Message, before: Sequence[Message]) -> Iterator[str]:
    blocks = blocks_of(message)
    results, calls = _ids(blocks, "tool_result", "tool_use_id"), _ids(before, "tool_use", "id")
    if message["role"] == "assistant":
        if results or calls:
            yield f"{at}: pairs"
        return
    if sorted(results) != sorted(calls):
        yield f"{at}: pairs results={results} calls={calls}"
    spots = [spot for spot, block in enumerate(blocks) if block["type"] == "tool_result"]
    if spots != list(range(len(spots))):
        yield f"{at}: results_first"


def _server_pairs(at: int, blocks: Sequence[Message]) -> Iterator[str]:
    waiting: list[str] = []
    for block in blocks:
        if block["type"] in ("server_tool_use", "mcp_tool_use"):
            waiting.append(block["id"])
        elif block["type"].endswith("_tool_result"):
            if block["tool_use_id"] not in waiting:
                yield f"{at}: server_pairs: a result without its call"
            else:
                waiting.remove(block["tool_use_id"])
    if waiting:
        yield f"{at}: server_pairs: a call without its result"
