"""Puts a streamed answer together. Only what ended with message_stop counts; all else is a cut stream.

Written by hand since the SDK's own helper hands a cut tool call over as a valid one with half of its
input, and parses a tool's input again at every delta.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import StreamCut
from ..events import Delta, Usage
from ..messages import Block, clean
from . import trouble

_UNFINISHED_MAY_BE = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
_FIELD_OF_DELTA = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
_SHOWN = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class Accumulator:
    """Feed it the events of one stream in order; `content`, `stop_reason`, `usage` are whole once `done`.

    `max_bytes` bounds what an answer may weigh (reliability.md §3g). Every irregularity raises LlmTrouble.
    """

    def __init__(self, turn: int, max_bytes: int) -> None:
        self.done = False
        self.usage = Usage()
        self.stop_reason = ""
        self._turn = turn
        self._room = max_bytes
        self._blocks: list[dict[str, Any]] = []
        self._pieces: dict[str, list[str]] = {}
        self._open = False
        self._offset = 0
        self._unfinished = -1
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
        except (KeyError, TypeError, AttributeError) as error:
            raise StreamCut(f"The answer's stream holds a malformed {kind} event.") from error

    def content(self) -> tuple[Block, ...]:
        """The blocks of a whole answer, clean. A tool call that max_tokens cut off is left out."""
        if not self.done:
            raise StreamCut("The answer's stream ended before the answer did.")
        whole = [block for index, block in enumerate(self._blocks) if index != self._unfinished]
        return tuple(clean(block) for block in whole)

    def _message_start(self, event: Mapping[str, Any]) -> None:
        if self._started:
            raise StreamCut("The answer's stream began twice.")
        self._started = True
        self._count(event["message"]["usage"])

    def _block_start(self, event: Mapping[str, Any]) -> None:
        if self._open or event["index"] != len(self._blocks):
            raise StreamCut("A block of the answer began before the one before it had ended.")
        block = dict(event["content_block"])
        block["type"] = str(block["type"])
        self._blocks.append(block)
        self._open, self._pieces, self._offset = True, {}, 0

    def _block_delta(self, event: Mapping[str, Any]) -> Delta | None:
        self._expect_open(event)
        delta = event["delta"]
        kind = delta["type"]
        if kind == "citations_delta":
            citations = self._blocks[-1].get("citations") or []
            self._blocks[-1]["citations"] = [*citations, delta["citation"]]
        if kind not in _FIELD_OF_DELTA:
            return None
        source, field = _FIELD_OF_DELTA[kind]
        piece = delta[source]
        self._weigh(piece)
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
        """The one place where a call's input is parsed: once, when its block is closed."""
        if not text:
            return
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            self._unfinished = len(self._blocks) - 1
            return
        # The API refuses to be sent a call whose input is not an object; wrapped, no tool accepts it,
        # so the llm is told, and the conversation stays valid.
        block["input"] = given if isinstance(given, dict) else {"input": given}

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        self.stop_reason = str(event["delta"].get("stop_reason") or self.stop_reason)
        self._count(event.get("usage") or {})

    def _message_stop(self, event: Mapping[str, Any]) -> None:
        if self._open or not self.stop_reason:
            raise StreamCut("The answer ended in the middle of a block or without a reason.")
        if self._unfinished >= 0 and not self._may_be_unfinished():
            raise StreamCut("The input of a tool call is not JSON.")
        self.done = True

    def _may_be_unfinished(self) -> bool:
        return self.stop_reason in _UNFINISHED_MAY_BE and self._unfinished == len(self._blocks) - 1

    def _expect_open(self, event: Mapping[str, Any]) -> None:
        if not self._open or event["index"] != len(self._blocks) - 1:
            raise StreamCut("The answer's stream goes on with a block that is not open.")

    def _weigh(self, piece: str) -> None:
        self._room -= len(piece.encode("utf-8", "surrogatepass"))
        if self._room < 0:
            raise StreamCut("The answer is far longer than the tokens that were asked for.")

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
    """The API's usage as ours: cache writes of 5 minutes and of an hour apart."""
    long = int((counted.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0)
    written = int(counted.get("cache_creation_input_tokens") or 0)
    return Usage(
        input=int(counted.get("input_tokens") or 0),
        output=int(counted.get("output_tokens") or 0),
        cache_read=int(counted.get("cache_read_input_tokens") or 0),
        cache_write=max(0, written - long),
        cache_write_1h=long,
        thinking=int((counted.get("output_tokens_details") or {}).get("thinking_tokens") or 0),
    )


def _parsed(data: str) -> Mapping[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StreamCut("The answer's stream holds a line that is not JSON.") from error
    if not isinstance(event, dict):
        raise StreamCut("The answer's stream holds an event that is not an object.")
    return event
