"""The estimates of the first release: what requests of that time say of sizes, and by which they were cut (RENDER 1).

Never changed: with other numbers those requests could not be rebuilt to the byte.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..messages import Block, canonical
from .pictures import of_picture

PER_BLOCK = 4
REMEMBERED = 100_000

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


def _of_result(content: Any) -> int:
    return estimate(content) if isinstance(content, str) else sum(map(of_block, content))
