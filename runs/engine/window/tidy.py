"""One message on its way out, less what may stand in no list: blanks, what its role may not say, foreign cache marks,
unsigned thinking, halves of server tools (W3, W5, W6); names and inputs of calls in the API's shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import is_

from ..messages import UNREADABLE, Block
from .lines import BAD_NAME, SERVER_CALLS, Line, belongs, inner, is_server_result, says_nothing, strangers

EMPTY = "(nothing was said)"
KEYS: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text", "citations"),
    "image": ("type", "source"),
    "document": ("type", "source", "title", "context", "citations"),
    "tool_use": ("type", "id", "name", "input", "caller"),
    "tool_result": ("type", "tool_use_id", "content", "is_error"),
}
"""What the API takes of a block of these types: it refuses every other key. Thinking stands as it came."""

MOST_NAME = 128
"""Characters of a tool's name that the API takes."""


@dataclass(slots=True)
class Mended:
    lines: list[Line]
    repairs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """A line without what may stand in no list, and what was left out of it."""

    line: Line
    repairs: tuple[str, ...] = ()


def tidied(line: Line) -> Tidied:
    """The very same line when it is clean."""
    mended = Mended(lines=[])
    kept = tuple(block for block in map(_unmarked, line.blocks) if not _is_blank(block))
    kept = _shaped(_server_pairs(_said_by(line, kept, mended), mended), mended)
    return Tidied(line=with_blocks(line, kept), repairs=tuple(mended.repairs))


def with_blocks(line: Line, blocks: tuple[Block, ...]) -> Line:
    """The line with these blocks: the very same one when they are its own."""
    if len(blocks) == len(line.blocks) and all(map(is_, blocks, line.blocks)):
        return line
    return replace(line, blocks=blocks)


def _unmarked(block: Block) -> Block:
    """Without foreign cache marks, and without blank text inside a result; an error says that it says nothing."""
    if "cache_control" in block:
        block = {key: value for key, value in block.items() if key != "cache_control"}
    content = block.get("content")
    if block["type"] != "tool_result":
        return block
    if says_nothing(block):
        return {**block, "content": EMPTY}
    if isinstance(content, list | tuple):
        parts = [_unmarked(part) for part in content if not _is_blank(part)]
        if len(parts) != len(content) or any(a is not b for a, b in zip(parts, content, strict=True)):
            block = {**block, "content": parts or EMPTY}
    return block


def _is_blank(block: Block) -> bool:
    if block["type"] == "text":
        return not block["text"].strip()
    if block["type"] == "redacted_thinking":
        return not block.get("data")
    return block["type"] == "thinking" and not block.get("signature")


def _said_by(line: Line, blocks: tuple[Block, ...], mended: Mended) -> tuple[Block, ...]:
    """Calls and thinking are the llm's, results and pictures the person's side's; other types the API does not know."""
    stray = [str(block["type"]) for block in blocks if not belongs(block, line.role)]
    stray += [str(part["type"]) for block in blocks for part in strangers(block)]
    if not stray:
        return blocks
    kinds = ", ".join(dict.fromkeys(stray))[:80]
    mended.repairs.append(
        f"blocks that a message of the {line.role.value} may not hold were left out: {kinds}"
    )
    return tuple(_without_strangers(block) for block in blocks if belongs(block, line.role))


def _without_strangers(block: Block) -> Block:
    stray = strangers(block)
    if not stray:
        return block
    return {**block, "content": [part for part in inner(block) if part not in stray] or EMPTY}


def _server_pairs(blocks: tuple[Block, ...], mended: Mended) -> tuple[Block, ...]:
    """A server tool's call and its result stand in one message, in this order, or neither does (W6)."""
    waiting: dict[str, int] = {}
    lonely: dict[int, str] = {}
    for at, block in enumerate(blocks):
        if block["type"] in SERVER_CALLS:
            lonely[at] = str(block["id"])
            waiting[str(block["id"])] = at
        elif is_server_result(block):
            call = waiting.pop(str(block["tool_use_id"]), None)
            if call is None:
                lonely[at] = str(block["tool_use_id"])
            else:
                del lonely[call]
    if not lonely:
        return blocks
    ids = ", ".join(sorted(set(lonely.values())))
    mended.repairs.append(f"half of a server tool's pair was left out: {ids}")
    return tuple(block for at, block in enumerate(blocks) if at not in lonely)


def _shaped(blocks: tuple[Block, ...], mended: Mended) -> tuple[Block, ...]:
    known = (with_known_keys(block, mended.repairs) for block in blocks)
    return tuple(_call(block, mended) if block["type"] == "tool_use" else block for block in known)


def with_known_keys(block: Block, repairs: list[str]) -> Block:
    """Proxies and other programs add keys of their own. The parts of a result are looked at, too."""
    keys = KEYS.get(block["type"], tuple(block))
    extra = sorted(block.keys() - set(keys))
    if extra:
        repairs.append(f"keys were left out of a {block['type']}: {', '.join(extra)[:80]}")
        block = {key: block[key] for key in keys if key in block}
    parts = [with_known_keys(part, repairs) for part in inner(block)]
    return block if all(map(is_, parts, inner(block))) else {**block, "content": parts}


def _call(block: Block, mended: Mended) -> Block:
    """A name that the API would refuse names no tool of ours; an input that is no object no tool takes."""
    name = str(block["name"])
    if BAD_NAME.search(name) or not 0 < len(name) <= MOST_NAME:
        plain = re.sub(BAD_NAME, "_", name)[:MOST_NAME] or "unnamed"
        mended.repairs.append(f"the tool's name {name[:40]!r} is sent as {plain[:40]!r}")
        block = {**block, "name": plain}
    if not isinstance(block.get("input"), Mapping):
        mended.repairs.append(f"the input of the call {str(block['id'])[:40]!r} was no object")
        block = {**block, "input": {UNREADABLE: block.get("input")}}
    return block
