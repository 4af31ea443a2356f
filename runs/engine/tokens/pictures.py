"""Tokens of a picture: by its pixels, never by the length of its base64."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any

from ..messages import Block

PICTURE_UNKNOWN = 1600
"""Tokens of a picture whose size cannot be read: the most the API charges for one."""

PIXELS_PER_TOKEN = 750
FRAME = 4


def of_picture(block: Block) -> int:
    """By pixels, never by the length of its base64. Source: the API's rule of width × height / 750."""
    size = picture_size(block)
    return min(PICTURE_UNKNOWN, size[0] * size[1] // PIXELS_PER_TOKEN + FRAME) if size else PICTURE_UNKNOWN


def picture_size(block: Block) -> tuple[int, int] | None:
    """Width and height in pixels of a base64 picture, None where they cannot be read."""
    source: Mapping[str, Any] = block.get("source") or {}
    if source.get("type") != "base64":
        return None
    try:
        head = base64.b64decode(source["data"][:87384], validate=False)
    except (ValueError, KeyError):
        return None
    return _png(head) or _gif(head) or _jpeg(head) or _webp(head)


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


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF
