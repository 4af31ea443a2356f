"""The bytes of a request and their hash, joined from where the request before went on: what stands at its front is
neither dumped nor hashed again, and copied once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING

from .lines import Line

if TYPE_CHECKING:
    from hashlib import _Hash

OPEN = 3
"""Lines at the end whose cache marks move with the next turn."""

KEY = "messages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A body and its sha256. Its first `end` bytes are `head` and `lines`, and `hash` is what they come to."""

    body: bytes = b""
    sha256: str = ""
    head: bytes = b""
    lines: Sequence[Line] = ()
    end: int = 0
    hash: _Hash = field(default_factory=hashlib.sha256)

    def begins(self, head: bytes, lines: Sequence[Line]) -> bool:
        known = len(self.lines)
        return head == self.head and known < len(lines) and all(map(is_, self.lines, lines))


def written(pieces: Mapping[str, bytes], lines: Sequence[Line], before: Written) -> Written:
    """The canonical JSON of a request whose messages are these lines; `pieces` are its other keys, dumped."""
    keys = [b'"%s":%s' % (key.encode(), pieces[key]) for key in sorted(pieces) if key < KEY]
    head = b"{" + b"".join(key + b"," for key in keys) + b'"%s":[' % KEY.encode()
    rest = [b'"%s":%s' % (key.encode(), pieces[key]) for key in sorted(pieces) if key > KEY]
    tail = b"]" + b"".join(b"," + key for key in rest) + b"}"
    if not before.begins(head, lines):
        before = Written(body=head, head=head, end=len(head), hash=hashlib.sha256(head))
    known, last = len(before.lines), max(len(before.lines), len(lines) - OPEN)
    grown = b"".join(line.data + b"," for line in lines[known:last])
    open_ = b",".join(line.data for line in lines[last:]) + tail
    steady = before.hash.copy()
    steady.update(grown)
    whole = steady.copy()
    whole.update(open_)
    return Written(
        body=b"".join((memoryview(before.body)[: before.end], grown, open_)),
        sha256=whole.hexdigest(),
        head=head,
        lines=lines[:last],
        end=before.end + len(grown),
        hash=steady,
    )
