"""Puts a streamed answer together. Only what ended with message_stop counts; all else is a cut stream.

Written by hand since the SDK's own helper hands a cut tool call over as a valid one with half of its
input, and parses a tool's input again at every delta.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..caching import told
from ..errors import AnswerTooLong, StreamCut
from ..events import Delta, Usage
from ..messages import UNREADABLE, Block, as_it_came, clean
from . import trouble

_UNFINISHED_MAY_BE = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
_REASON_CHARS = 40
_MOST_TOKENS = 10_000_000
"""Ten windows of the largest llm: a usage beyond that is a mistake of the server, and not believed."""

_SEALED_FACTOR = 4
"""Sealed thinking weighs more than its summary and is not read by anybody: it has a bound of its own."""

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name"),
}
"""Fields that are text in a block of this type, whatever a server left out of it or put into it."""

_BELONGS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}
_FIELD_OF_DELTA = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
_SHOWN = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class Accumulator:
    """Feed it the events of one stream in order; `content`, `stop_reason`, `usage` are whole once `done`.

    `max_bytes` bounds what an answer may weigh; beyond it nothing of it is kept but size and hash. Every
    irregularity raises LlmTrouble.
    """

    def __init__(self, turn: int, max_bytes: int) -> None:
        self.done = False
        self.usage = Usage()
        self.stop_reason = ""
        self.cache_miss = self.id = self.raw = ""
        self._turn = turn
        self._room, self._sealed_room = max_bytes, max_bytes * _SEALED_FACTOR
        self._size, self._hash = 0, hashlib.sha256()
        self._blocks: list[dict[str, Any]] = []
        self._pieces: dict[str, list[str]] = {}
        self._open = False
        self._offset = 0
        self._unfinished = -1
        self._unreadable: set[int] = set()
        self._counted: dict[str, Any] = {}
        self._started = False

    def feed(self, data: str) -> Delta | None:
        """Take one event's data; returns what there is to show of it. Raises StreamCut, Overloaded."""
        event = _parsed(data)
        kind = event.get("type")
        if kind == "error":
            raise trouble.from_stream(event)
        handler = self._HANDLERS.get(str(kind))
        if handler is None:
            return None
        if not self._started and kind != "message_start":
            raise StreamCut("The answer's stream began in the middle.")
        try:
            return handler(self, event)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise StreamCut(f"The answer's stream holds a malformed {kind} event.") from error

    def content(self) -> tuple[Block, ...]:
        """The blocks of a whole answer, clean. A tool call that max_tokens cut off is left out."""
        if not self.done:
            raise StreamCut("The answer's stream ended before the answer did.")
        whole = [block for index, block in enumerate(self._blocks) if index != self._unfinished]
        cleaned = tuple(clean(block) for block in whole)
        self.raw = "" if list(cleaned) == whole else as_it_came(whole)
        return cleaned

    @property
    def cut_call(self) -> bool:
        """A tool call was cut off in its middle, and is left out of the content."""
        return self._unfinished >= 0

    def _message_start(self, event: Mapping[str, Any]) -> None:
        if self._started:
            raise StreamCut("The answer's stream began twice.")
        self._started = True
        self.cache_miss = told(event["message"].get("diagnostics"))
        self.id = str(event["message"].get("id") or "")
        self._count(event["message"].get("usage") or {})

    def _block_start(self, event: Mapping[str, Any]) -> None:
        if self._open or event["index"] != len(self._blocks):
            raise StreamCut("A block of the answer began before the one before it had ended.")
        block = dict(event["content_block"])
        kind = block["type"] = str(block["type"])
        for name in _FIELDS.get(kind, ()):
            block[name] = block[name] if isinstance(block.get(name), str) else ""
        self._weigh_start(block)
        self._blocks.append(block)
        self._open, self._pieces, self._offset = True, {}, 0

    def _block_delta(self, event: Mapping[str, Any]) -> Delta | None:
        self._expect_open(event)
        delta = event["delta"]
        kind = delta["type"]
        if kind == "citations_delta":
            citations = self._blocks[-1].get("citations") or []
            self._weigh(json.dumps(delta["citation"]), sealed=True)
            self._blocks[-1]["citations"] = [*citations, delta["citation"]]
        if kind not in _FIELD_OF_DELTA:
            return None
        self._expect_kind(kind)
        source, field = _FIELD_OF_DELTA[kind]
        piece = delta[source]
        self._weigh(piece, sealed=kind == "signature_delta")
        self._pieces.setdefault(field, []).append(piece)
        return self._shown(kind, piece)

    def _shown(self, kind: str, piece: str) -> Delta | None:
        if kind not in _SHOWN or not piece:
            return None
        offset, self._offset = self._offset, self._offset + len(piece)
        block = len(self._blocks) - 1
        return Delta(turn=self._turn, block=block, offset=offset, text=clean(piece), block_type=_SHOWN[kind])

    def _block_stop(self, event: Mapping[str, Any]) -> None:
        self._expect_open(event)
        block = self._blocks[-1]
        for field in self._pieces.keys() - {"input"}:
            block[field] = str(block.get(field) or "") + "".join(self._pieces[field])
        if "input" in self._pieces:
            self._close_input(block, "".join(self._pieces["input"]))
        self._open = False

    def _close_input(self, block: dict[str, Any], text: str) -> None:
        """The one place where a call's input is parsed: once, when its block is closed.

        The API refuses to be sent a call whose input is not an object: as UNREADABLE no tool accepts it, so
        the llm is told, and the conversation stays valid.
        """
        if not text:
            return
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            self._unreadable.add(len(self._blocks) - 1)
            given = text
        block["input"] = given if isinstance(given, dict) else {UNREADABLE: given}

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        reason = clean(str(event["delta"].get("stop_reason") or ""))[:_REASON_CHARS]
        self.stop_reason = reason or self.stop_reason
        self._count(event.get("usage") or {})

    def _message_stop(self, event: Mapping[str, Any]) -> None:
        if self._open or not self.stop_reason:
            raise StreamCut("The answer ended in the middle of a block or without a reason.")
        last = len(self._blocks) - 1
        if self.stop_reason in _UNFINISHED_MAY_BE and last in self._unreadable:
            self._unfinished = last
        self.done = True

    def _expect_open(self, event: Mapping[str, Any]) -> None:
        if not self._open or event["index"] != len(self._blocks) - 1:
            raise StreamCut("The answer's stream goes on with a block that is not open.")

    def _expect_kind(self, delta: str) -> None:
        kind = self._blocks[-1]["type"]
        known = kind in _BELONGS.values()
        if known and _BELONGS[delta] != kind:
            raise StreamCut(f"The answer's stream holds a {delta} in a block of type {kind}.")

    def _weigh_start(self, block: Mapping[str, Any]) -> None:
        """What a block brings with its start; of most that is nothing but its frame."""
        if block["type"] not in ("text", "tool_use"):
            return self._weigh(json.dumps(block), sealed=True)
        given = json.dumps(block["input"]) if block.get("input") else ""
        return self._weigh("".join(block[name] for name in _FIELDS[block["type"]]) + given)

    def _weigh(self, piece: str, *, sealed: bool = False) -> None:
        data = piece.encode("utf-8", "surrogatepass")
        self._size += len(data)
        self._hash.update(data)
        if sealed:
            self._sealed_room -= len(data)
        else:
            self._room -= len(data)
        if min(self._room, self._sealed_room) < 0:
            raise AnswerTooLong(
                f"The answer is longer than the tokens that were asked for: {self._size:,} bytes came "
                f"(sha256 {self._hash.hexdigest()}), and nothing of them is kept."
            )

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Numbers are cumulative: a later event's replace an earlier one's."""
        self._counted.update({key: value for key, value in usage.items() if value is not None})
        self.usage = usage_of(self._counted)

    _HANDLERS = {
        "message_start": _message_start,
        "content_block_start": _block_start,
        "content_block_delta": _block_delta,
        "content_block_stop": _block_stop,
        "message_delta": _message_delta,
        "message_stop": _message_stop,
    }


def usage_of(counted: Mapping[str, Any]) -> Usage:
    """The API's usage as ours: cache writes of 5 minutes and of an hour apart, told by their sum or by their split.
    What is no number of tokens (negative, not finite, beyond any window) counts as not told."""
    split = counted.get("cache_creation") or {}
    long = _tokens(split.get("ephemeral_1h_input_tokens"))
    short = _tokens(split.get("ephemeral_5m_input_tokens"))
    written = _tokens(counted.get("cache_creation_input_tokens")) or long + short
    return Usage(
        input=_tokens(counted.get("input_tokens")),
        output=_tokens(counted.get("output_tokens")),
        cache_read=_tokens(counted.get("cache_read_input_tokens")),
        cache_write=max(0, written - long),
        cache_write_1h=long,
        thinking=_tokens((counted.get("output_tokens_details") or {}).get("thinking_tokens")),
    )


def _tokens(told: object) -> int:
    if isinstance(told, bool) or not isinstance(told, int | float):
        return 0
    return int(told) if 0 <= told <= _MOST_TOKENS else 0


def _parsed(data: str) -> Mapping[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StreamCut("The answer's stream holds a line that is not JSON.") from error
    if not isinstance(event, dict):
        raise StreamCut("The answer's stream holds an event that is not an object.")
    return event
