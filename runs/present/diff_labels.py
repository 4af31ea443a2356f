"""Entries in a few words: what an agent's call was, what its result was, how a text begins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.engine.messages import Author, Block, Kind, Message, calls_of, result_text, results_of, texts_of

FIRST = ("command", "path", "pattern", "query", "text", "turn", "number")
"""Arguments that say most about a call, in this order."""

SHORT = 120
ICONS = {
    "run_command": "terminal",
    "read_file": "file",
    "list_files": "file",
    "write_file": "pencil",
    "edit_file": "pencil",
    "search_files": "search",
    "take_note": "note",
    "update_note": "note",
    "read_notes": "note",
    "recall": "search",
    "read_archive": "archive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """`code` is set apart in monospace: a command, a path. `part` is the category the entry is drawn in."""

    icon: str
    part: str
    text: str
    code: str = ""

    @property
    def whole(self) -> str:
        return f"{self.text} {self.code}".strip()


def name(message: Message, calls: Mapping[str, Block]) -> Name:
    """A message of the window in a few words. `calls` are the tool_use blocks of the window by id."""
    if message.kind is Kind.RESULTS:
        return _results(message, calls)
    if message.author is Author.LLM:
        return _answer(message)
    if message.kind is Kind.EPISODE:
        return Name(icon="compact", part="episodes", text=summary_name(texts_of(message.content)))
    if message.kind is Kind.NOTES:
        return Name(icon="note", part="notes", text="Notes")
    if message.author is Author.PERSON:
        word = "Goal" if message.kind is Kind.GOAL else "You"
        return Name(icon="person", part="person", text=f"{word}: {first_line(texts_of(message.content))}")
    return Name(icon="info", part="system", text=first_line(texts_of(message.content)))


def summary_name(text: str) -> str:
    """The name of an episode's block, from its own first line: Summary of turns 1 to 54."""
    turns = re.match(r'<summary turns="(\d+)-(\d+)"', text)
    return f"Summary, turns {turns[1]}\u2013{turns[2]}" if turns else "Summary"


def _answer(message: Message) -> Name:
    calls = calls_of(message.content)
    words = first_line(texts_of(message.content))
    thinking = sum(len(str(block.get("thinking", ""))) for block in message.content)
    part = "thinking" if thinking > len(words) + sum(len(str(call)) for call in calls) else "assistant"
    if words:
        return Name(icon="spark", part=part, text=words)
    if calls:
        icon = ICONS.get(calls[0]["name"], "tool")
        return Name(icon=icon, part=part, text=call_name(calls), code=argument(calls[0]))
    return Name(icon="thought", part="thinking", text="Thought")


def _results(message: Message, calls: Mapping[str, Block]) -> Name:
    results = results_of(message.content)
    asked = [calls[block["tool_use_id"]] for block in results if block["tool_use_id"] in calls]
    if not asked:
        words = first_line(result_text(results[0])) if results else "Results"
        return Name(icon="tool", part="results", text=words)
    icon = ICONS.get(asked[0]["name"], "tool")
    return Name(icon=icon, part="results", text=call_name(asked), code=argument(asked[0]))


def call_name(calls: Sequence[Block]) -> str:
    more = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
    return f"{calls[0]['name']}{more}"


def argument(call: Block) -> str:
    """The argument that says most: the command, the path, else the first."""
    given: Mapping[str, Any] = call.get("input") or {}
    for key in FIRST:
        if key in given:
            return first_line(str(given[key]))
    return first_line(str(next(iter(given.values())))) if given else ""


def first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= SHORT else line[: SHORT - 1] + "\u2026"


def readable(content: Sequence[Block]) -> str:
    """A message as text to read and compare: blocks one after the other, each under its own heading line."""
    return "\n".join(_readable(block) for block in content)


def _readable(block: Block) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return f"[thinking]\n{block['thinking']}"
        case "tool_use":
            given = "\n".join(f"{key}: {value}" for key, value in (block.get("input") or {}).items())
            return f"[{block['name']}]\n{given}"
        case "tool_result":
            return result_text(block)
    return f"[{block['type']}]"
