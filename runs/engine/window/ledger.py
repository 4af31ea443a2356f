"""The ledger: identifiers that code finds in a span, so that no summary has to carry them.

Keyed, so it does not fill with hashes; what occurs in more than three messages is no landmark; capped in tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import tokens
from ..messages import Block, Kind, Message, calls_of, result_text, results_of, texts_of

COMMON = 3
"""An identifier in more messages than this is background, not a landmark."""

LINE = 200
_KEYED = re.compile(r"^[\s>*\-]*([A-Za-z][\w ./-]{1,48}?)\s*[:=]\s*(\S.{0,140})$")
_KEY = re.compile(r"([A-Z](?<!\w[A-Z])[A-Z0-9]{1,15}[-_]\d{1,8})\b\s*[:=]\s*(\S.{0,140})")
"""Begins with a capital letter, which is found quickly; none of a word's letters stands before it."""

_URL = re.compile(r"https?://[^\s\"'<>)\]]{4,160}")
_ERROR = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception)|error|Error|FAILED|FAIL|fatal|panic|Traceback)\b")
_ERROR_SIGNS = ("Error", "Exception", "error", "FAIL", "fatal", "panic", "Traceback")
"""One of these stands in everything that _ERROR finds."""

_EXIT = re.compile(r"\bexit(?: code)?[ :=]+(-?\d+)")
_READ = ("read_file", "list_files", "search_files")
_WRITE = ("write_file", "edit_file")
FILES = ("files written: ", "files read: ")
"""What the lines of grouped files begin with."""

_SECTIONS = ("files written", "files read", "commands", "errors", "urls", "values")


@dataclass(slots=True)
class _Found:
    """Lines by section, the newest last, and in how many messages each identifier occurred."""

    lines: dict[str, dict[str, None]] = field(default_factory=lambda: {name: {} for name in _SECTIONS})
    seen: Counter[str] = field(default_factory=Counter)
    here: set[str] = field(default_factory=set)

    def add(self, section: str, text: str, key: str = "") -> None:
        line = " ".join(text.split())[:LINE]
        if not line:
            return
        self.lines[section].pop(line, None)
        self.lines[section][line] = None
        if (key or line) not in self.here:
            self.here.add(key or line)
            self.seen[key or line] += 1


def ledger(span: Iterable[Message], limit: int, before: str = "") -> str:
    """The ledger of a span, at most `limit` tokens, laid over the one of the episode it folds."""
    found = _Found()
    _take_old(found, before)
    calls: dict[str, Block] = {}
    for message in span:
        calls |= {call["id"]: call for call in calls_of(message.content)}
        found.here = set()
        _of_message(found, message, calls)
    return _written(found, limit)


def key_lines(text: str, count: int) -> list[str]:
    """Up to `count` lines of a text that carry a keyed value or an error: what a marker repeats."""
    if not count:
        return []
    lines = [line.strip()[:LINE] for line in text.splitlines()]
    strong = _strong(text, lines)
    if len(strong) < count:
        strong += [line for line in lines if _is_keyed(line) and line not in strong]
    return list(dict.fromkeys(strong))[:count]


def _strong(text: str, lines: Sequence[str]) -> list[str]:
    """Most texts have neither key nor error: one look at the whole says so."""
    if not _KEY.search(text) and not any(sign in text for sign in _ERROR_SIGNS):
        return []
    return [line for line in lines if _KEY.search(line) or _ERROR.search(line)]


def _is_keyed(line: str) -> bool:
    match = _KEYED.match(line) if ":" in line or "=" in line else None
    return bool(match and any(char.isdigit() for char in match[2]) and len(match[1].split()) <= 4)


def _of_message(found: _Found, message: Message, calls: Mapping[str, Block]) -> None:
    for block in results_of(message.content):
        _of_result(found, block, calls.get(block["tool_use_id"], {}))
    if message.kind is Kind.ANSWER:
        _of_text(found, texts_of(message.content))


def _of_result(found: _Found, block: Block, call: Block | Mapping[str, object]) -> None:
    name, given = str(call.get("name", "")), call.get("input") or {}
    text = result_text(block)
    path = str(given.get("path", "")) if isinstance(given, Mapping) else ""
    if path and name in _WRITE and not block.get("is_error"):
        found.add("files written", path, key=f"w:{path}")
    elif path and name in _READ:
        found.add("files read", path, key=f"r:{path}")
    elif name == "run_command" and isinstance(given, Mapping):
        code = _EXIT.search(text)
        found.add("commands", f"{given.get('command', '')}{f' → exit {code[1]}' if code else ''}")
    if block.get("is_error") or name == "run_command":
        for line in [line for line in text.splitlines() if _ERROR.search(line)][:3]:
            found.add("errors", line)
    _of_text(found, text)


def _of_text(found: _Found, text: str) -> None:
    for url in _URL.findall(text):
        found.add("urls", url.rstrip(".,;"))
    for line in text.splitlines() if _KEY.search(text) else ():
        match = _KEY.search(line)
        if match:
            found.add("values", f"{match[1]}: {match[2]}", key=match[1])


def _take_old(found: _Found, before: str) -> None:
    """The ledger of the folded episode, whose newest lines come first."""
    for line in reversed(before.splitlines()):
        section, _, rest = line.partition(": ")
        if section in ("files written", "files read"):
            found.lines[section] |= dict.fromkeys(rest.split(", "))
        elif section in _SECTIONS:
            found.lines[section][rest] = None


def _written(found: _Found, limit: int) -> str:
    """Values first to stay, then files grouped on a line each, then the rest a line each; commands first to go."""
    rare = {name: _rare(found, name) for name in _SECTIONS}
    files = [_files(name, rare[name], limit // 4) for name in ("files written", "files read") if rare[name]]
    lines = [*_labelled(rare, ("values",)), *files, *_labelled(rare, ("errors", "urls", "commands"))]
    kept: list[str] = []
    left = limit
    for line in filter(None, lines):
        size = tokens.estimate(line) + 1
        if size <= left:
            kept.append(line)
            left -= size
    return "\n".join(kept)


def _files(name: str, paths: Sequence[str], limit: int) -> str:
    """The newest paths that fit, in the order in which they were met."""
    kept: list[str] = []
    left = limit - tokens.estimate(f"{name}: ")
    for path in reversed(paths):
        left -= tokens.estimate(f"{path}, ")
        if left < 0:
            break
        kept.insert(0, path)
    return f"{name}: {', '.join(kept)}" if kept else ""


def _labelled(rare: Mapping[str, Sequence[str]], sections: Iterable[str]) -> list[str]:
    return [f"{name}: {line}" for name in sections for line in reversed(rare[name])]


def _rare(found: _Found, section: str) -> list[str]:
    """Files and commands stay however often they occur; values and errors only while they are landmarks."""
    lines = found.lines[section]
    if section in ("files written", "files read", "commands"):
        return list(lines)
    if section == "values":
        return [line for line in lines if found.seen[line.partition(":")[0]] <= COMMON]
    return [line for line in lines if found.seen[line] <= COMMON]
