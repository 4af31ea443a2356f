"""Plays one turn of a script for one request: the step's words and calls, what it must fetch again, what a person said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from .script import Call, Script, Step
from .wire import Place, Said


def play(script: Script, place: Place, messages: list[Mapping[str, Any]]) -> Said:
    """The answer of turn `place.turn`: a pure function of the script and the request."""
    step = script.step(place.turn)
    calls = (*_missing(step, messages), *step.calls)
    return answer(place, thinks=step.thinks, says=step.says, calls=calls)


def answer(place: Place, *, says: str, calls: tuple[Call, ...] = (), thinks: str = "") -> Said:
    content: list[Mapping[str, Any]] = []
    if thinks:
        content.append({"type": "thinking", "thinking": thinks, "signature": ""})
    content.append({"type": "text", "text": says})
    for index, call in enumerate(calls):
        content.append(
            {"type": "tool_use", "id": call_id(place, index), "name": call.name, "input": call.input}
        )
    return Said(content=tuple(content), stop_reason="tool_use" if calls else "end_turn")


def call_id(place: Place, index: int) -> str:
    """The id of a call: the same for the same turn of the same run, however often it is asked for."""
    name = hashlib.blake2b(f"{place.slug}:{place.turn}:{index}".encode(), digest_size=9).hexdigest()
    return f"toolu_{place.turn:04d}{index:02d}{name}"


def _missing(step: Step, messages: list[Mapping[str, Any]]) -> Iterator[Call]:
    if not step.needs:
        return
    sight = "\n".join(_texts(messages))
    again = [need.by for need in step.needs if need.fact not in sight]
    yield from dict((repr(call), call) for call in again).values()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
