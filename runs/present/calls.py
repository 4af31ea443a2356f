"""A tool call in one line: what it was asked, how it went, and what it came back with in a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.engine.messages import Block, result_text
from runs.store.turn_reads import Called

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
_EXIT = re.compile(r"\bexit code (-?\d+)")
_SIGNS = (
    re.compile(r"^\S*(?:Error|Exception)\b(?::|\s|$)|^E\s{2,}\S"),
    re.compile(r"\b(?:FAIL|FAILED|ERROR|error|fatal|panic)\b"),
)
"""What names an error, best first: the exception with its words, then a line that only says that there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """`note`: what came of it; `tone`: its colour (good, bad, warn, quiet); `loud`: the first lines of an error;
    `unsure`: nobody knows how it ended."""

    icon: str
    name: str
    argument: str
    note: str
    tone: str
    loud: tuple[str, ...]
    running: bool
    failed: bool
    unsure: bool = False


def line(block: Block, call: Called | None, result: Block | None) -> CallLine:
    """`block` is the tool_use; `call` its row and `result` its tool_result, as far as there are any."""
    status = call.status if call else ("done" if result else "planned")
    failed = (
        status in BAD or bool(result and result.get("is_error")) or _exit_code(block, result) not in ("", "0")
    )
    note, tone = _note(block, status, failed, result, call)
    return CallLine(
        icon="warn" if status == "unknown" else "cross" if failed else ICONS.get(str(block["name"]), "tool"),
        name=_shown_name(block),
        argument=_argument(block),
        note=note,
        tone=tone,
        loud=_loud(result) if failed else (),
        running=status in RUNNING,
        failed=failed,
        unsure=status == "unknown",
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
    block: Block, status: str, failed: bool, result: Block | None, call: Called | None
) -> tuple[str, str]:
    if status in RUNNING:
        return RUNNING[status], "quiet"
    code = _exit_code(block, result)
    if failed:
        word = f"exit {code}" if code else BAD.get(status, "error")
        return word, "warn" if status in ("skipped", "unknown") else "bad"
    return _success(block, result_text(result) if result else "", call)


def _exit_code(block: Block, result: Block | None) -> str:
    """What a command ended with; '' for everything that is no command, or has not ended."""
    if block["name"] != "run_command" or result is None:
        return ""
    found = _EXIT.search(result_text(result)[:200])
    return found.group(1) if found else ""


def _success(block: Block, said: str, call: Called | None) -> tuple[str, str]:
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
    """What an error says first: from the line that names it on, else from the first."""
    rows = [row.rstrip() for row in result_text(result).splitlines() if row.strip()] if result else []
    if rows and _EXIT.match(rows[0]):
        rows = rows[1:]
    hits = (next((at for at, row in enumerate(rows) if sign.search(row)), None) for sign in _SIGNS)
    start = next((hit for hit in hits if hit is not None), 0)
    return tuple(row[:200] for row in rows[start : start + LOUD_LINES])
