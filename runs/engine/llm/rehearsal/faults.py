"""What the faults of personality.py do to an answer and to its bytes on the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

from .personality import CUT, Fault
from .stream import pause
from .wire import Reset, Said

Content = tuple[Mapping[str, Any], ...]

SLOW_S = 1.0
LONG_CHARS = 5_000_000
MANY_CALLS = 200
DEEP = 5_000
_ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_MARKUP = '<invoke name="read_file"><parameter name="path">README.md</parameter></invoke>'


def spoil(fault: Fault, said: Said) -> Said:
    """The answer a bad llm would have given in place of `said`; faults of the wire leave it alone."""
    if fault.name == CUT:
        return _cut_call(fault.number or 0)(said)
    spoiler = _SPOILERS.get(fault.name)
    return spoiler(said) if spoiler else said


def _text(text: str, stop_reason: str = "end_turn") -> Callable[[Said], Said]:
    return lambda said: Said(content=({"type": "text", "text": text},), stop_reason=stop_reason)


def _nothing(said: Said) -> Said:
    return Said(content=(), stop_reason="end_turn")


def _refusal(said: Said) -> Said:
    details = {
        "type": "refusal",
        "category": None,
        "explanation": "The rehearsal refuses, as it was asked to.",
    }
    return Said(content=(), stop_reason="refusal", stop_details=details)


def _pause(said: Said) -> Said:
    return Said(content=({"type": "text", "text": "Still at it."},), stop_reason="pause_turn")


def _cut(stop_reason: str) -> Callable[[Said], Said]:
    """The answer stops in the middle of its last block."""

    def cut(said: Said) -> Said:
        *whole, last = said.content
        if last["type"] == "tool_use":
            raw = json.dumps(last["input"])
            last = {**last, "raw": raw[: max(1, len(raw) // 2)]}
        else:
            last = {**last, "text": last["text"][: max(1, len(last["text"]) // 2)]}
        return Said(content=(*whole, last), stop_reason=stop_reason)

    return cut


cut_short = _cut("max_tokens")
"""An answer that does not fit into max_tokens."""


def _cut_call(at: int) -> Callable[[Said], Said]:
    """The first call of the answer ends at a byte of its input, and the answer with it."""

    def cut(said: Said) -> Said:
        first = next((i for i, block in enumerate(said.content) if block["type"] == "tool_use"), None)
        if first is None:
            return said
        last = said.content[first]
        raw = json.dumps(last["input"], ensure_ascii=False).encode()[:at].decode(errors="ignore")
        return Said(content=(*said.content[:first], {**last, "raw": raw}), stop_reason="max_tokens")

    return cut


def _call(name: str = "read_file", tool_use_id: str = "toolu_bad", **more: object) -> Mapping[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": {"path": "README.md"}, **more}


def _calls(*calls: Mapping[str, Any]) -> Callable[[Said], Said]:
    return lambda said: Said(content=(*_words(said), *calls), stop_reason="tool_use")


def _words(said: Said) -> Content:
    return tuple(block for block in said.content if block["type"] == "text")


def _many(said: Said) -> Said:
    return _calls(*(_call(tool_use_id=f"toolu_many{n:03d}") for n in range(MANY_CALLS)))(said)


def _lossy(said: Said) -> Said:
    """A summary that keeps every other line."""
    return replace(
        said, content=tuple({**block, "text": _every_other(block["text"])} for block in said.content)
    )


def _every_other(text: str) -> str:
    return "\n".join(text.splitlines()[::2])


def _thinking_only(said: Said) -> Said:
    return Said(
        content=({"type": "thinking", "thinking": "Let me see.", "signature": ""},), stop_reason="end_turn"
    )


def _with(*blocks: Mapping[str, Any], stop_reason: str = "tool_use") -> Callable[[Said], Said]:
    """The answer's words, and these blocks after them."""
    return lambda said: Said(content=(*_words(said), *blocks), stop_reason=stop_reason)


_UNSIGNED = {"type": "thinking", "thinking": "Nobody signs this.", "signature": "", "unsigned": True}
_HOLOGRAM = {"type": "hologram", "depth": {"x": 1}}
_NO_FIELDS = {**_call(), "opened": {"type": "tool_use"}}
_EXTRA = {
    "type": "text",
    "text": "With more.",
    "opened": {"type": "text", "text": "", "mood": "good", "n": 1},
}
_NUMBERS = '{"path": "README.md", "offset": 1e999, "limit": -Infinity, "n": %s}' % ("9" * 5_000)

NASTY = (
    "".join(map(chr, range(0, 0x10000, 7)))
    + "\x00 \ud83d \u202eevil\u202c \u200b \U000e0041 \u2028 </script> \r end"
)
"""Characters from all of the first plane, halves of pairs and what hides or turns text among them."""

_SPOILERS: dict[str, Callable[[Said], Said]] = {
    "refusal": _refusal,
    "pause_turn": _pause,
    "max_tokens": _cut("max_tokens"),
    "context_exceeded": _cut("model_context_window_exceeded"),
    "empty": _nothing,
    "bad_json": _calls(_call(raw='{"path": "READ')),
    "not_object": _calls(_call(raw='["README.md"]')),
    "unknown_tool": _calls(_call(name="read_fil")),
    "duplicate_ids": _calls(_call(), _call()),
    "many_calls": _many,
    "nul": _text("before\x00after"),
    "surrogates": _text("before\ud83dafter"),
    "nan": _calls(_call(raw='{"path": "README.md", "offset": NaN}')),
    "long": _text("long " * (LONG_CHARS // 5)),
    "deep": _calls(_call(raw='{"path":' + "[" * DEEP + "]" * DEEP + "}")),
    "thinking_only": _thinking_only,
    "markup": _text(_MARKUP),
    "unsigned_thinking": lambda said: Said(
        content=(_UNSIGNED, *_words(said), _call()), stop_reason="tool_use"
    ),
    "text_last": _with(_call(), {"type": "text", "text": "And now I have said it."}),
    "blank_blocks": _with({"type": "text", "text": ""}, {"type": "text", "text": " \n\t"}, _call()),
    "end_with_call": _with(_call(), stop_reason="end_turn"),
    "unknown_block": _with(_HOLOGRAM, _call()),
    "unknown_reason": _with(stop_reason="tired\x00" + "!" * 100),
    "extra_keys": _with(_EXTRA, _call()),
    "no_fields": _with(_NO_FIELDS),
    "odd_ids": _with(_call(name="read file/" + "x" * 300, tool_use_id="call:1/ü " + "y" * 300)),
    "odd_numbers": _with(_call(raw=_NUMBERS)),
    "server_result": _with(
        {"type": "tool_result", "tool_use_id": "toolu_bad", "content": "I did it myself."}, _call()
    ),
    "every_character": _with({"type": "text", "text": NASTY}, _call(raw=json.dumps({"path": NASTY[:500]}))),
    "summary_empty": _nothing,
    "summary_blank": _text("  \n "),
    "summary_refusal": _refusal,
    "summary_cut": _cut("max_tokens"),
    "summary_lossy": _lossy,
    "summary_long": _text("This sentence stands in for a summary that never ends. " * 20_000),
    "summary_tool": _calls(_call()),
    "summary_thinking": _thinking_only,
    "summary_markup": _text(_MARKUP),
}


async def disturb(fault: Fault, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of an answer as they arrive when the wire is bad. `fault.number` is the byte where it
    happens."""
    name = fault.name.removeprefix("summary_")
    if name in ("slow", "split"):
        async for piece in _dripped(events, fault.number or 1, SLOW_S if name == "slow" else 0.0):
            yield piece
    elif name in ("no_stop", "no_reason"):
        async for event in events:
            if name == "no_stop" and b"event: message_stop" in event:
                return
            yield event if name == "no_stop" else _without_reason(event)
    else:
        async for piece in _until(events, fault.number):
            yield piece
        yield await _break(name)


async def _until(events: AsyncIterator[bytes], most: int | None) -> AsyncIterator[bytes]:
    """The first `most` bytes; without a number everything up to the first delta."""
    left = most
    async for event in events:
        if left is None and b"content_block_delta" in event:
            return
        yield event if left is None else event[:left]
        if left is not None:
            left -= len(event)
            if left <= 0:
                return


async def _break(name: str) -> bytes:
    match name:
        case "hang":
            await asyncio.Event().wait()
        case "reset":
            raise Reset("The connection was reset by the rehearsal.")
        case "error":
            return f"event: error\ndata: {json.dumps(_ERROR)}\n\n".encode()
        case "garbage":
            return b"event: content_block_delta\ndata: {not json\n\n"
    return b""


async def _dripped(events: AsyncIterator[bytes], size: int, gap_s: float) -> AsyncIterator[bytes]:
    async for event in events:
        for at in range(0, len(event), size):
            yield event[at : at + size]
            await pause(gap_s)


def _without_reason(event: bytes) -> bytes:
    if not event.startswith(b"event: message_delta\n"):
        return event
    head, _, data = event.partition(b"data: ")
    parsed = json.loads(data)
    parsed["delta"]["stop_reason"] = None
    return head + b"data: " + json.dumps(parsed).encode() + b"\n\n"
