"""Estimates of tokens, for what no usage has told yet. Never characters / 4.

The estimator weighs classes of characters (words, digits, punctuation, CJK, dense text such as base64); its
weights were fitted to a reconstructed tokenizer of current llms on prose, code and JSON. What a run's usage teaches
corrects it (window/gauge).
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from .messages import Block, canonical

PICTURE_UNKNOWN = 1600
"""Tokens of a picture whose size cannot be read: the most the API charges for one."""

PIXELS_PER_TOKEN = 750
PER_BLOCK = 4
"""Framing of a block in a prompt."""

REMEMBERED = 100_000
"""Characters up to which a text's size is remembered: a turn asks for that of the same result half a dozen times."""

_TOKEN = re.compile(
    r"(?P<hex>(?=[a-f]*\d)[0-9a-f]{24,}\b)"
    r"|(?P<dense>(?=[A-Za-z+/]{0,40}\d)[A-Za-z0-9+/]{24,}={0,2})"
    r"|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<digits>\d+)"
    r"|(?P<newline>\n[ \t]*)"
    r"|(?P<space>[^\S\n]+)"
    r"|(?P<letter>[^\W\d_]+)"
    r"|(?P<mark>(?:[^\w\s]|_)+)"
)


def estimate(text: str) -> int:
    """Tokens of a text, rounded up; 0 for none."""
    return _remembered(text) if len(text) <= REMEMBERED else _weighed(text)


def _weighed(text: str) -> int:
    total = 0.0
    for match in _TOKEN.finditer(text):
        kind, size = match.lastgroup, match.end() - match.start()
        if kind == "word":
            total += 0.85 + 0.155 * size if size > 2 else 0.9
        elif kind == "mark":
            total += 0.33 + 0.65 * size
        elif kind == "digits":
            total += 0.3 + 0.62 * size
        elif kind == "newline":
            total += 0.9
        elif kind == "hex":
            total += 0.66 * size
        elif kind == "dense":
            total += 0.95 * size
        elif kind == "cjk":
            total += 1.1
        elif kind == "letter":
            total += 0.4 + 0.5 * size
        else:
            total += 0.06 * (size - 1)
    return int(total + 0.999)


_remembered = lru_cache(maxsize=512)(_weighed)


def of_block(block: Block) -> int:
    """Tokens of one content block in the form in which it is sent."""
    kind = block["type"]
    if kind == "text":
        return PER_BLOCK + estimate(block["text"])
    if kind == "tool_result":
        return 2 * PER_BLOCK + _of_result(block.get("content") or "")
    if kind == "tool_use":
        return 4 * PER_BLOCK + estimate(block["name"]) + estimate(canonical(block["input"]).decode())
    if kind == "thinking":
        return PER_BLOCK + estimate(block["thinking"])
    if kind == "image":
        return of_picture(block)
    return PER_BLOCK + estimate(canonical(dict(block)).decode())


def of_content(blocks: Iterable[Block]) -> int:
    return sum(of_block(block) for block in blocks)


def _of_result(content: Any) -> int:
    return estimate(content) if isinstance(content, str) else of_content(content)


def of_picture(block: Block) -> int:
    """By pixels, never by the length of its base64. Source: the API's rule of width × height / 750."""
    size = picture_size(block)
    return (
        min(PICTURE_UNKNOWN, size[0] * size[1] // PIXELS_PER_TOKEN + PER_BLOCK) if size else PICTURE_UNKNOWN
    )


def picture_size(block: Block) -> tuple[int, int] | None:
    """Width and height in pixels of a base64 picture, None where they cannot be read."""
    source: Mapping[str, Any] = block.get("source") or {}
    if source.get("type") != "base64":
        return None
    try:
        head = base64.b64decode(source["data"][:87384], validate=False)
    except (ValueError, KeyError):
        return None
    return _png(head) or _gif(head) or _jpeg(head)


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _gif(data: bytes) -> tuple[int, int] | None:
    if data[:3] != b"GIF" or len(data) < 10:
        return None
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
