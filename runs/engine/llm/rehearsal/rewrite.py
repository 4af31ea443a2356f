"""Events that hold what they must not: numbers that count nothing, bytes that are no text, a role nobody has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

Data = dict[str, Any]
HUGE = 10**30
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


async def rewritten(name: str, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of an answer, each as the fault `name` would have sent it."""
    async for event in events:
        head, _, data = event.partition(b"data: ")
        changed = _REWRITERS[name](json.loads(data))
        yield _hurt(head + b"data: " + json.dumps(changed).encode() + b"\n\n", name)


def _hurt(event: bytes, name: str) -> bytes:
    """Two bytes that no UTF-8 has, in the middle of a word."""
    if name != "bad_utf8" or b'"text_delta"' not in event:
        return event
    return event.replace(b'"text": "', b'"text": "\xff\xfe', 1)


def _role(data: Data) -> Data:
    if data["type"] == "message_start":
        data["message"]["role"] = "user"
    return data


def _usage(change: Callable[[Data], Data | None]) -> Callable[[Data], Data]:
    def counted(data: Data) -> Data:
        carrier = data["message"] if data["type"] == "message_start" else data
        if "usage" in carrier:
            told = change(dict(carrier["usage"]))
            carrier["usage"] = told
            if told is None:
                del carrier["usage"]
        return data

    return counted


def _all(value: object) -> Callable[[Data], Data]:
    return lambda usage: {**usage, **dict.fromkeys(_COUNTS, value)}


def _null_text(data: Data) -> Data:
    if data["type"] == "content_block_start" and data["content_block"]["type"] == "text":
        data["content_block"] = {"type": "text", "text": None, "citations": None}
    return data


def _wrong_delta(data: Data) -> Data:
    """Text for a block that is a call, and the other way round."""
    kinds = {"text_delta": ("text", "input_json_delta", "partial_json")}
    kinds |= {"input_json_delta": ("partial_json", "text_delta", "text")}
    if data["type"] == "content_block_delta" and data["delta"]["type"] in kinds:
        was, kind, field = kinds[data["delta"]["type"]]
        data["delta"] = {"type": kind, field: data["delta"][was]}
    return data


_REWRITERS: dict[str, Callable[[Data], Data]] = {
    "wrong_role": _role,
    "usage_negative": _usage(_all(-1)),
    "usage_huge": _usage(_all(HUGE)),
    "usage_nan": _usage(_all(float("nan"))),
    "usage_missing": _usage(lambda usage: None),
    "usage_words": _usage(_all("many")),
    "null_text": _null_text,
    "wrong_delta": _wrong_delta,
    "bad_utf8": lambda data: data,
}
