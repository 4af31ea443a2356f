"""Blows up the `@expand:` strings of a case: long inputs are written short."""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def load(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        yield {**case, "messages": expand(case["messages"]), "params": expand(case["params"])}


def expand(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not (isinstance(value, str) and value.startswith("@expand:")):
        return value
    what, _, rest = value.removeprefix("@expand:").partition(":")
    return _MAKERS[what](rest)


def _lines(rest: str) -> str:
    tag, count = rest.rsplit(":", 1)
    return " ".join(f"{tag} line {at} lorem ipsum dolor sit amet." for at in range(int(count)))


def _repeat(rest: str) -> str:
    text, count = rest.rsplit(":", 1)
    return text * int(count)


def _long_lines(rest: str) -> str:
    count, characters = map(int, rest.split(":"))
    return "\n".join(("abcdefgh " * (characters // 9 + 1))[:characters] for _ in range(count))


def _base64(rest: str) -> str:
    return base64.b64encode(random.Random(7).randbytes(int(rest))).decode()[: int(rest)]


def _png(rest: str) -> str:
    width, height = map(int, rest.split("x"))
    rnd = random.Random(width * 1000 + height)
    raw = b"".join(b"\x00" + bytes(rnd.randrange(256) for _ in range(width)) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(raw)), _chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


def _chunk(tag: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data) & 0xFFFFFFFF)


def _big_line(rest: str) -> str:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * int(rest)},
    }
    message = {"role": "user", "content": [picture]}
    return json.dumps(
        {"type": "user", "uuid": "img1", "parentUuid": "u1", "sessionId": "s1", "message": message}
    )


_MAKERS = {
    "words": lambda rest: " ".join(["lorem"] * int(rest)),
    "lines": _lines,
    "repeat": _repeat,
    "longlines": _long_lines,
    "b64text": _base64,
    "png": _png,
    "bigline": _big_line,
}
