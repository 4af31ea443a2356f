"""Estimates of tokens, for what no usage has told yet: texts (words), pictures (pixels), documents
(sealed), blocks.

What a run's usage teaches corrects them (window/gauge).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..messages import Block, canonical
from .pictures import PICTURE_UNKNOWN, of_picture, picture_size
from .sealed import of_document, of_sealed
from .words import REMEMBERED, estimate, fits

__all__ = [
    "PICTURE_UNKNOWN",
    "REMEMBERED",
    "estimate",
    "fits",
    "of_block",
    "of_content",
    "of_picture",
    "picture_size",
]

PER_BLOCK = 4
"""Framing of a block in a prompt."""


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
    return PER_BLOCK + (of_document(block) if kind == "document" else of_sealed(block))


def of_content(blocks: Iterable[Block]) -> int:
    return sum(of_block(block) for block in blocks)


def _of_result(content: Any) -> int:
    return estimate(content) if isinstance(content, str) else of_content(content)
