"""How many tokens a request has, in the stand-in's own reckoning: exact, repeatable, unlike the engine's
estimate.

Text is cut the way tokenizers cut it: words in pieces, digits by threes, punctuation dense, an Asian
character about a token each. A picture counts by its pixels, never by its base64.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

PER_BLOCK = 3
PER_MESSAGE = 4
TOOLS_PROMPT = 300
"""What the API adds once for a request that has tools."""

PICTURE_UNKNOWN = 1_600
PICTURE_MOST = 4_800
DOCUMENT = 3_000
_PIXELS_A_TOKEN = 750
_MEMO_CHARS = 200_000

_PIECE = re.compile(
    r"[A-Za-z]{1,5}|\d{1,3}|[぀-ヿ㐀-䶿一-鿿가-힯]"
    r"|[^\W\d_A-Za-z]{1,3}|[ \t]*\n[ \t\n]*|[ \t]{2,}|_|[^\w\s]{1,2}"
)


@dataclass(frozen=True, slots=True)
class Element:
    """One link of the prefix a cache sees: a tool, a system block, a message's block. `path` as errors name
    it."""

    layer: str
    path: str
    value: Mapping[str, Any]
    tokens: int


def text(value: str) -> int:
    return _memo(value) if len(value) < _MEMO_CHARS else _pieces(value)


def _pieces(value: str) -> int:
    return len(_PIECE.findall(value))


_memo = lru_cache(maxsize=4096)(_pieces)


def elements(body: Mapping[str, Any]) -> list[Element]:
    """The whole prompt, in the order in which the API reads it: tools, system, messages."""
    return [*_tools(body), *_system(body), *_messages(body)]


def total(body: Mapping[str, Any]) -> int:
    return sum(element.tokens for element in elements(body))


def blocks_of(content: str | list[Any]) -> list[Any]:
    """A content as blocks: a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _tools(body: Mapping[str, Any]) -> Iterator[Element]:
    for index, tool in enumerate(body.get("tools") or ()):
        shape = {key: value for key, value in tool.items() if key != "cache_control"}
        first = TOOLS_PROMPT if index == 0 else 0
        yield Element("tools", f"tools.{index}", tool, first + PER_BLOCK + text(_json(shape)))


def _system(body: Mapping[str, Any]) -> Iterator[Element]:
    for index, part in enumerate(blocks_of(body.get("system") or [])):
        yield Element("system", f"system.{index}", part, PER_BLOCK + text(part["text"]))


def _messages(body: Mapping[str, Any]) -> Iterator[Element]:
    for number, message in enumerate(body["messages"]):
        extra = PER_MESSAGE
        for index, part in enumerate(blocks_of(message["content"])):
            path = f"messages.{number}.content.{index}"
            yield Element(message["role"], path, part, extra + block(part))
            extra = 0


def block(part: Mapping[str, Any]) -> int:
    """Tokens of one content block, its frame included."""
    return PER_BLOCK + _inside(part)


def _inside(part: Mapping[str, Any]) -> int:
    match part["type"]:
        case "text":
            return text(part["text"])
        case "thinking":
            return text(part["thinking"])
        case "tool_use" | "server_tool_use":
            return text(part["name"]) + text(_json(part["input"])) + PER_BLOCK
        case "tool_result":
            return sum(block(inner) for inner in blocks_of(part.get("content") or []))
        case "image":
            return picture(part["source"])
        case "document":
            return DOCUMENT
    return text(_json(part))


def picture(source: Mapping[str, Any]) -> int:
    """Pixels / 750, a fixed number where the size cannot be read."""
    size = pixels(source)
    return min(PICTURE_MOST, size[0] * size[1] // _PIXELS_A_TOKEN) if size else PICTURE_UNKNOWN


def pixels(source: Mapping[str, Any]) -> tuple[int, int] | None:
    """Width and height out of a PNG's or GIF's first bytes."""
    try:
        head = base64.b64decode(str(source.get("data") or "")[:64] + "==", validate=False)
        if head.startswith(b"\x89PNG"):
            return struct.unpack(">II", head[16:24])
        if head.startswith(b"GIF8"):
            return struct.unpack("<HH", head[6:10])
    except (ValueError, struct.error):
        return None
    return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
