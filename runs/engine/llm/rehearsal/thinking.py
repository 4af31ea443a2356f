"""Signed thinking: a block that is sent back must be as it was, and on newer llms its prefix too.

The signature holds a digest of the text and one of everything before the block (tools, system, messages,
without thinking and cache marks: leaving thinking out is allowed, changing it is not).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from .count import blocks_of
from .digest import bare, feed
from .wire import Invalid

_SECRET = b"rehearsal"
_SIZE = 12
_THINKING = ("thinking", "redacted_thinking")

_MODIFIED = (
    "messages.{n}.content.{j}: `thinking` or `redacted_thinking` blocks in the latest assistant message "
    "cannot be modified. These blocks must remain as they were in the original response."
)
_INVALID = "messages.{n}.content.{j}: Invalid `signature` in `thinking` block"
_BOUND = (
    _INVALID + ". The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


class Prefix:
    """The digest of a conversation as it grows, block by block."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._hash = hashlib.blake2b(digest_size=_SIZE)
        for tool in body.get("tools") or ():
            self._add("tool", tool)
        for part in blocks_of(body.get("system") or []):
            self._add("system", part)

    def add(self, role: str, block: Mapping[str, Any]) -> None:
        if block["type"] not in _THINKING:
            self._add(role, block)

    def digest(self) -> bytes:
        return self._hash.copy().digest()

    def _add(self, role: str, value: Mapping[str, Any]) -> None:
        self._hash.update(role.encode())
        feed(self._hash.update, bare(value))


def sign(text: str, prefix: bytes) -> str:
    """The signature of a thinking block that follows `prefix`."""
    head = _digest(text) + prefix
    return base64.b64encode(head + _seal(head)).decode()


def prefix_of(body: Mapping[str, Any]) -> bytes:
    """The digest of a whole conversation: what thinking in the answer to it will be bound to."""
    prefix = Prefix(body)
    for message in body["messages"]:
        for block in blocks_of(message["content"]):
            prefix.add(message["role"], block)
    return prefix.digest()


def check(body: Mapping[str, Any], *, bound: bool) -> None:
    """Check all thinking that was sent back, `bound`: its prefix too. Raises Invalid."""
    prefix = Prefix(body)
    messages = body["messages"]
    latest = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    for number, message in enumerate(messages):
        for index, block in enumerate(blocks_of(message["content"])):
            if block["type"] == "thinking":
                _check(block, prefix.digest() if bound else b"", latest == number, number, index)
            prefix.add(message["role"], block)


def _check(block: Mapping[str, Any], prefix: bytes, latest: bool, number: int, index: int) -> None:
    text_digest, signed_prefix = _opened(block["signature"])
    if text_digest != _digest(block["thinking"]):
        raise Invalid((_MODIFIED if latest else _INVALID).format(n=number, j=index))
    if prefix and signed_prefix != prefix:
        raise Invalid(_BOUND.format(n=number, j=index))


def _opened(signature: str) -> tuple[bytes, bytes]:
    """Digests of text and prefix out of a signature of ours, empty ones out of any other."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return b"", b""
    head, seal = raw[: 2 * _SIZE], raw[2 * _SIZE :]
    return (head[:_SIZE], head[_SIZE:]) if seal == _seal(head) else (b"", b"")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


def _seal(head: bytes) -> bytes:
    return hashlib.blake2b(head, key=_SECRET, digest_size=_SIZE).digest()
