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

MARK = "@expand:"
KEYS: dict[str, type] = {"id": str, "operation": str, "messages": list, "params": dict, "checks": list}


class Unreadable(ValueError):
    """A file or a line that holds no case; says why."""


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The cases of a file. Raises Unreadable."""
    return (case_of(line) for _, line in lines_of(path))


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, each with its number. Cut at line feeds only: texts may hold other separators."""
    try:
        whole = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}. Name a file of cases.") from error
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not UTF-8 at byte {error.start}. Write it anew as UTF-8.") from error
    return ((number, line) for number, line in enumerate(whole.split("\n"), 1) if line.strip())


def case_of(line: str) -> dict[str, Any]:
    """One case with its long inputs blown up. Raises Unreadable."""
    try:
        case = json.loads(line)
        wrong = _wrong(case)
        if wrong:
            raise Unreadable(wrong)
        if MARK not in line:
            return dict(case)
        return {**case, "messages": expand(case["messages"]), "params": expand(case["params"])}
    except json.JSONDecodeError as error:
        raise Unreadable(f"no JSON: {error}") from error
    except RecursionError as error:
        raise Unreadable("nested too deeply to be read") from error


def _wrong(case: object) -> str:
    """Why this is no case; '' when it is one."""
    if not isinstance(case, dict):
        return "a case is a JSON object"
    bad = [name for name, kind in KEYS.items() if not isinstance(case.get(name), kind)]
    return (
        f"a case has {', '.join(KEYS)}; this one lacks, or has in another type: {', '.join(bad)}"
        if bad
        else ""
    )


def expand(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not (isinstance(value, str) and value.startswith(MARK)):
        return value
    what, _, rest = value.removeprefix(MARK).partition(":")
    try:
        return _MAKERS[what](rest)
    except (KeyError, ValueError) as error:
        raise Unreadable(f"{value[:60]!r} cannot be blown up: there is {', '.join(_MAKERS)}") from error


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
