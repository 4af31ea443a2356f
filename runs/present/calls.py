"""A tool call in one line: what it was asked, how it went, and what it came back with in a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.engine.messages import Block, result_text
from runs.models import Call

from . import numbers
from .diff_labels import ICONS, argument
from .text import first_words

RUNNING = {"planned": "waits", "started": "running"}
BAD = {
    "error": "error",
    "timeout": "timed out",
    "killed": "killed",
    "skipped": "skipped",
    "denied": "refused",
    "unknown": "outcome unknown",
}
LOUD_LINES = 3
_EXIT = re.compile(r"exit(?:ed)?(?: code| status|ed with)?[ :=]+(-?\d+)", re.IGNORECASE)
_ERROR = re.compile(r"\b(?:[A-Z]\w*)?(?:Error|Exception|FAILED|Failure|Traceback)\b|^E\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """`note`: what came of it; `tone`: its colour (good, bad, warn, quiet); `loud`: the first lines of an error."""

    icon: str
    name: str
    argument: str
    note: str
    tone: str
    loud: tuple[str, ...]
    running: bool
    failed: bool


def line(block: Block, call: Call | None, result: Block | None) -> CallLine:
    """`block` is the tool_use; `call` its row and `result` its tool_result, as far as there are any."""
    status = call.status if call else ("done" if result else "planned")
    failed = status in BAD or bool(result and result.get("is_error"))
    note, tone = _note(block, status, failed, result, call)
    return CallLine(
        icon="cross" if failed else ICONS.get(str(block["name"]), "tool"),
        name=_shown_name(block),
        argument=_argument(block),
        note=note,
        tone=tone,
        loud=_loud(result) if failed else (),
        running=status in RUNNING,
        failed=failed,
    )


def _shown_name(block: Block) -> str:
    if block["name"] == "take_note":
        return "Note"
    return str(block["name"])


def _argument(block: Block) -> str:
    if block["name"] == "take_note":
        given = block.get("input") or {}
        return first_words(f"{given.get('section', '')}: {given.get('text', '')}")
    return argument(block)


def _note(
    block: Block, status: str, failed: bool, result: Block | None, call: Call | None
) -> tuple[str, str]:
    if status in RUNNING:
        return RUNNING[status], "quiet"
    said = result_text(result) if result else ""
    code = _EXIT.search(said[:400] + "\n" + said[-400:]) if block["name"] == "run_command" else None
    if failed:
        word = f"exit {code.group(1)}" if code else BAD.get(status, "error")
        return word, "warn" if status in ("skipped", "unknown") else "bad"
    if code and code.group(1) != "0":
        return f"exit {code.group(1)}", "bad"
    return _success(block, said, call)


def _success(block: Block, said: str, call: Call | None) -> tuple[str, str]:
    given: Mapping[str, Any] = block.get("input") or {}
    match block["name"]:
        case "edit_file":
            return f"+{_lines(given.get('new'))} {numbers.MINUS}{_lines(given.get('old'))}", "good"
        case "write_file":
            return f"+{_lines(given.get('content'))}", "good"
        case "search_files":
            return _count(said), "good"
        case "take_note" | "update_note":
            return "", "good"
    return (numbers.kilo(call.tokens), "good") if call and call.tokens >= 1000 else ("", "good")


def _lines(value: Any) -> int:
    return len(str(value or "").splitlines())


def _count(said: str) -> str:
    hits = sum(1 for part in said.splitlines() if part.strip())
    return f"{hits} line" + ("" if hits == 1 else "s")


def _loud(result: Block | None) -> tuple[str, ...]:
    """What an error says first: the lines from its first error word on, else the first lines."""
    rows = [row.rstrip() for row in result_text(result).splitlines() if row.strip()] if result else []
    hit = next((at for at, row in enumerate(rows) if _ERROR.search(row)), 0)
    return tuple(row[:200] for row in rows[hit : hit + LOUD_LINES])
