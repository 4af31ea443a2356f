"""The prompt cache's accounts: what a request reads, what it writes, what it pays in full.
 A prefix is written where a mark stands, and read by its longest written form at a mark or up to 20 blocks
before it. Order: tools, system, messages. A change of the llm changes everything; of tool_choice or
thinking, the messages.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .count import Element
from .digest import bare, feed

LOOK_BACK = 20
MINIMUM = 1024
TTL_S = {"5m": 300.0, "1h": 3600.0}
MOST_PREFIXES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Tokens of one request: `read` + `written` + `written_1h` + `input` are the whole prompt."""

    input: int
    read: int = 0
    written: int = 0
    written_1h: int = 0

    def usage(self) -> dict[str, Any]:
        """As the API reports it."""
        split = {"ephemeral_5m_input_tokens": self.written, "ephemeral_1h_input_tokens": self.written_1h}
        return {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.written + self.written_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": split,
        }


@dataclass(frozen=True, slots=True)
class _Mark:
    at: int
    ttl: str


class PrefixCache:
    """Bounded: the longest unused prefixes go first. `now` is seconds on any clock."""

    def __init__(self, now: Callable[[], float] = time.monotonic, most: int = MOST_PREFIXES) -> None:
        self._now = now
        self._most = most
        self._until: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def account(self, body: Mapping[str, Any], elements: Sequence[Element]) -> Account:
        """Book one request that is being answered: reads refresh, marks write."""
        totals = _running([element.tokens for element in elements])
        marks = [mark for mark in _marks(body, elements) if totals[mark.at] >= MINIMUM]
        if not marks:
            return Account(input=totals[-1] if totals else 0)
        digests = _digests(body, elements)
        reached = self._longest_read(digests, marks)
        read = totals[reached] if reached >= 0 else 0
        written = {"5m": 0, "1h": 0}
        done = read
        for mark in marks:
            written[mark.ttl] += max(0, totals[mark.at] - done)
            done = max(done, totals[mark.at])
            self._write(digests[mark.at], TTL_S[mark.ttl])
        return Account(input=totals[-1] - done, read=read, written=written["5m"], written_1h=written["1h"])

    def _longest_read(self, digests: Sequence[bytes], marks: Sequence[_Mark]) -> int:
        for mark in reversed(marks):
            for at in range(mark.at, max(-1, mark.at - LOOK_BACK - 1), -1):
                if self._read(digests[at]):
                    return at
        return -1

    def _read(self, digest: bytes) -> bool:
        until, ttl = self._until.get(digest, (0.0, 0.0))
        if until <= self._now():
            return False
        self._until[digest] = (self._now() + ttl, ttl)
        self._until.move_to_end(digest)
        return True

    def _write(self, digest: bytes, ttl: float) -> None:
        self._until[digest] = (self._now() + ttl, ttl)
        self._until.move_to_end(digest)
        while len(self._until) > self._most:
            self._until.popitem(last=False)


def _marks(body: Mapping[str, Any], elements: Sequence[Element]) -> list[_Mark]:
    marks = [
        _Mark(at, element.value["cache_control"].get("ttl", "5m"))
        for at, element in enumerate(elements)
        if element.value.get("cache_control")
    ]
    top = body.get("cache_control")
    if top and elements and not (marks and marks[-1].at == len(elements) - 1):
        marks.append(_Mark(len(elements) - 1, top.get("ttl", "5m")))
    return marks


def _digests(body: Mapping[str, Any], elements: Sequence[Element]) -> list[bytes]:
    """The digest of each prefix. Marks are no part of it: they move from request to request."""
    so_far = hashlib.blake2b(str(body["model"]).encode(), digest_size=16)
    digests = []
    in_messages = False
    for element in elements:
        if not in_messages and element.layer not in ("tools", "system"):
            in_messages = True
            feed(so_far.update, [body.get("tool_choice"), body.get("thinking")])
        so_far.update(element.layer.encode())
        feed(so_far.update, bare(element.value))
        digests.append(so_far.copy().digest())
    return digests


def _running(numbers: Sequence[int]) -> list[int]:
    total, sums = 0, []
    for number in numbers:
        total += number
        sums.append(total)
    return sums
