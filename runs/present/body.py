"""The body of one row: a text as prose, a thought, a call with what it was given and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from runs.engine.messages import Block, Message, result_text, results_of
from runs.models import Run
from runs.store import page_reads, turn_reads

from .text import plain, prose

LONG = 20_000
"""Characters from which on a body is shown in its first LINES only."""
LINES = 200
WIDE = 4_000
"""A single line is cut here while a body is not shown whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    html: SafeString
    bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """`more`: there is more than is shown, `lines` in all."""

    number: int
    block: int
    turn: int
    html: SafeString = SafeString("")
    prose: bool = False
    parts: tuple[Part, ...] = ()
    more: bool = False
    lines: int = 0


def body(run: Run, number: int, at: int, *, whole: bool = False) -> Body | None:
    """The block `at` of a message; None when there is none."""
    message = page_reads.stored(run, [number]).get(number)
    if message is None or not 0 <= at < len(message.content):
        return None
    block = message.content[at]
    if block["type"] == "text":
        return _text(message, at, str(block["text"]), whole)
    if block["type"] == "tool_use":
        return _call(run, message, at, block, whole)
    said = str(block.get("thinking", "")) or "The provider has sealed this block."
    shown, more, lines = cut(said, whole)
    parts = (Part(name="", html=plain(shown)),)
    return Body(number=number, block=at, turn=message.turn, parts=parts, more=more, lines=lines)


def _text(message: Message, at: int, said: str, whole: bool) -> Body:
    shown, more, lines = cut(said, whole)
    html = prose(shown)
    return Body(
        number=message.number, block=at, turn=message.turn, html=html, prose=True, more=more, lines=lines
    )


def _call(run: Run, message: Message, at: int, block: Block, whole: bool) -> Body:
    given, given_more, _ = cut(_given(block.get("input") or {}), whole)
    parts = [Part(name="asked", html=plain(given or "nothing"))]
    result = _result(run, message.turn, str(block["id"]))
    more, lines = given_more, 0
    if result is not None:
        shown, cut_off, lines = cut(result_text(result) or "(no output)", whole)
        parts.append(Part(name="came back", html=plain(shown), bad=bool(result.get("is_error"))))
        more = more or cut_off
    else:
        parts.append(Part(name="came back", html=plain("It has not come back yet.")))
    return Body(
        number=message.number, block=at, turn=message.turn, parts=tuple(parts), more=more, lines=lines
    )


def _result(run: Run, turn: int, call_id: str) -> Block | None:
    found = turn_reads.read(run.pk, (), [turn])
    closed = [block for message in found.messages for block in results_of(message.content)]
    call = found.calls.get((turn, call_id))
    given = next((block for block in closed if block["tool_use_id"] == call_id), None)
    return given or (call.result if call else None)


def _given(given: Mapping[str, Any]) -> str:
    if len(given) == 1:
        return str(next(iter(given.values())))
    return "\n".join(f"{key}: {value}" for key, value in given.items())


def cut(value: str, whole: bool) -> tuple[str, bool, int]:
    """The part of a text that is shown, whether there is more, and how many lines there are in all."""
    rows = value.split("\n")
    if whole or len(value) <= LONG:
        return value, False, len(rows)
    shown = "\n".join(row[:WIDE] for row in rows[:LINES])[: LONG * 4]
    return shown, len(shown) < len(value), len(rows)
