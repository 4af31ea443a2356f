"""Pictures and documents within what the API takes (W7): the oldest over its number or bytes become a line of text.

Sources of the limits: the API's pages and its refusals as reported in issues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..messages import Block
from ..tokens import picture_size
from .lines import Line, inner
from .tidy import Mended

MOST_PICTURES = 100
MOST_SIDE, MANY_PICTURES, MANY_SIDE = 8000, 20, 2000
"""Pixels of a side: at most 8,000, and at most 2,000 where a request has more than 20 pictures."""

MOST_PICTURE_BYTES = 24 * 1024 * 1024
"""Of all pictures and documents together, as base64: a request may have 32 MB, and the rest of it needs some."""

LARGEST_PICTURE = 5 * 1024 * 1024
"""Of one picture, as base64."""


def within_limits(lines: list[Line], most: int, most_bytes: int, mended: Mended) -> list[Line]:
    """The same lines where everything is within the limits."""
    found = [block for line in lines for block in line.media]
    if not found:
        return lines
    drop = {id(block) for block in found if _is_refused(block)}
    left = [block for block in found if id(block) not in drop]
    pictures = [block for block in left if block["type"] == "image"]
    drop |= {id(block) for block in pictures[: max(0, len(pictures) - most)]}
    drop |= _heavy([block for block in left if id(block) not in drop], most_bytes)
    pictures = [block for block in pictures if id(block) not in drop]
    if len(pictures) > MANY_PICTURES:
        drop |= {id(block) for block in pictures if _side(block) > MANY_SIDE}
    if not drop:
        return lines
    kinds = [block["type"] for block in found if id(block) in drop]
    for kind, name in (("image", "pictures"), ("document", "documents")):
        if kind in kinds:
            mended.repairs.append(f"{kinds.count(kind)} {name} are sent as a line of text")
    return [_line(line, drop) for line in lines]


def _heavy(blocks: Sequence[Block], most: int) -> set[int]:
    """The oldest, until the rest weighs no more than `most` bytes."""
    drop: set[int] = set()
    left = sum(map(_bytes, blocks))
    for block in blocks:
        if left <= most:
            break
        if _bytes(block):
            drop.add(id(block))
            left -= _bytes(block)
    return drop


def _is_refused(block: Block) -> bool:
    """Whatever else the request holds."""
    return block["type"] == "image" and (_bytes(block) > LARGEST_PICTURE or _side(block) > MOST_SIDE)


def _side(block: Block) -> int:
    return max(picture_size(block) or (0, 0))


def _bytes(block: Block) -> int:
    return len((block.get("source") or {}).get("data") or "")


def _line(line: Line, drop: set[int]) -> Line:
    if not any(id(block) in drop for block in line.media):
        return line
    return replace(line, blocks=tuple(_named(block, drop) for block in line.blocks))


def _named(block: Block, drop: set[int]) -> Block:
    if id(block) in drop:
        size = picture_size(block) if block["type"] == "image" else None
        name = "picture" if block["type"] == "image" else "document"
        measures = f", {size[0]} × {size[1]} px" if size else ""
        return {"type": "text", "text": f"[{name}{measures}: in the archive]"}
    if any(id(part) in drop for part in inner(block)):
        return {**block, "content": [_named(part, drop) for part in inner(block)]}
    return block
