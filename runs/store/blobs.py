"""Bodies by their hash, stored once.

Most are canonical JSON under zstd. A message of tool results is stored `joined`, as references to the results
(these have blobs of their own since their calls ended); its hash is still that of the whole body.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from runs.engine.messages import Block, canonical, sha256

from . import sql

COLUMNS = ("sha256", "size", "codec", "body")
LEVEL = 6
"""A twentieth smaller than 3 for 0.04 ms a turn (measured on turns that read files)."""

TOO_SMALL_TO_PACK = 64
TOO_SMALL_TO_JOIN = 160

_local = threading.local()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A body as it is stored; the hash stands for `raw`."""

    sha256: str
    codec: str
    body: bytes
    raw: bytes

    def row(self) -> sql.Row:
        return (self.sha256, len(self.raw), self.codec, self.body)


class MissingBlob(LookupError):
    """A body that the archive names is not there."""


def of_value(value: Any) -> Blob:
    return _packed(canonical(value))


def of_content(content: Sequence[Block], of_result: Callable[[Block], Blob] = of_value) -> list[Blob]:
    """The blobs of a message, its own last. `of_result` gives the blob of a tool's result."""
    results = [of_result(block) if block["type"] == "tool_result" else None for block in content]
    pairs = list(zip(content, results, strict=True))
    whole = b"[%s]" % b",".join(blob.raw if blob else canonical(block) for block, blob in pairs)
    parts = [blob for blob in results if blob and len(blob.raw) >= TOO_SMALL_TO_JOIN]
    if not parts:
        return [_packed(whole)]
    skeleton = [
        {"blob": blob.sha256} if blob and len(blob.raw) >= TOO_SMALL_TO_JOIN else block
        for block, blob in pairs
    ]
    _, body = _pack(canonical(skeleton), always=True)
    return [*parts, Blob(sha256=sha256(whole), codec="joined", body=body, raw=whole)]


def _packed(raw: bytes) -> Blob:
    codec, body = _pack(raw)
    return Blob(sha256=sha256(raw), codec=codec, body=body, raw=raw)


def read(hashes: Collection[str]) -> dict[str, Any]:
    """The JSON values of many blobs in at most two queries. Raises MissingBlob."""
    return values(_rows(set(hashes)))


def values(stored: Mapping[str, tuple[str, bytes]]) -> dict[str, Any]:
    """The JSON values of bodies at hand (codec and bytes), by hash. What they are joined of is read where it is not
    among them. Raises MissingBlob."""
    found = _unpacked(stored)
    joined = [digest for digest, (codec, _) in stored.items() if codec == "joined"]
    parts = {block["blob"] for digest in joined for block in found[digest] if "blob" in block}
    known = found | _unpacked(_rows(parts - found.keys()))
    for digest in joined:
        found[digest] = [known[block["blob"]] if "blob" in block else block for block in found[digest]]
    return found


def _unpacked(stored: Mapping[str, tuple[str, bytes]]) -> dict[str, Any]:
    return {digest: json.loads(_unpack(codec, body)) for digest, (codec, body) in stored.items()}


def _rows(hashes: set[str]) -> dict[str, tuple[str, bytes]]:
    found: dict[str, tuple[str, bytes]] = {}
    wanted = sorted(hashes)
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        query = f"SELECT sha256, codec, body FROM runs_blob WHERE sha256 IN ({sql.marks(some)})"
        found |= {digest: (codec, body) for digest, codec, body in sql.rows(query, some)}
    if missing := hashes - found.keys():
        raise MissingBlob(f"The archive lacks {len(missing)} bodies, first {min(missing)}.")
    return found


def damage(digest: str) -> str:
    """What is wrong with a stored body, or "". Any damage counts: bytes that no longer unpack, parse or fit."""
    try:
        value = read([digest])[digest]
    except MissingBlob:
        return "its body is missing"
    except Exception as error:  # zstd, JSON and UTF-8 each have their own; all of them mean the same here
        return f"its body cannot be read ({type(error).__name__})"
    raw = canonical(value)
    if sha256(raw) != digest:
        return "its body does not have the hash it is named by"
    size = sql.one("SELECT size FROM runs_blob WHERE sha256 = %s", [digest])
    return "" if size == (len(raw),) else "its body does not have the size that is stored with it"


def rows(blobs: Iterable[Blob]) -> list[sql.Row]:
    return [blob.row() for blob in blobs]


def _pack(raw: bytes, *, always: bool = False) -> tuple[str, bytes]:
    if len(raw) < TOO_SMALL_TO_PACK and not always:
        return "", raw
    packed = _compressor().compress(raw)
    return ("zstd", packed) if always or len(packed) < len(raw) else ("", raw)


def _unpack(codec: str, body: bytes) -> bytes:
    return _decompressor().decompress(body) if codec else bytes(body)


def _compressor() -> zstandard.ZstdCompressor:
    """One a thread: the object is not to be shared, and making it costs more than a small body."""
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=LEVEL)
    compressor: zstandard.ZstdCompressor = _local.compressor
    return compressor


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    decompressor: zstandard.ZstdDecompressor = _local.decompressor
    return decompressor
