"""Answers a request for a summary without an llm: it chooses lines, in the order of what a successor needs.

Goal, decisions and reasons, data by name, troubles, changed files, where things stand: each line as it was
said, so the summary speaks the language of the conversation. Only its headings are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import count
from .count import blocks_of

DEFAULT_TOKENS = 1_500
SHARE = 0.85
"""Of what was asked for: a summary that is cut off is worth nothing."""

ORDER = "\n\nStop here and write a summary"
KNOWN = "not to be repeated:"
GO_ON = "Continue the work."
"""How the product's prompt begins, and what stands before the lines that it keeps by itself."""

_LINE_MOST = 600
_ASKED = re.compile(r"(\d[\d,.]*)\s*(?:tokens|Tokens|词元|トークン)")
_DECISION = re.compile(
    r"\b(decid\w*|because|therefore|instead|root cause|the cause|turns out|so the fix|must (?:not|be)|race|"
    r"hypothesis|rules? out|wrong|entscheid\w*|weil|deshalb|Ursache|parce que|donc|porque|por eso)\b"
    r"|因为|决定|ため",
    re.IGNORECASE,
)
_DATA = re.compile(r"\b[A-Z][A-Z0-9]{1,15}[-_]\d{1,6}\b\s*[:=]\s*\S+|^\s*FACT\b|\bhttps?://\S+")
_PROSE_DATA = re.compile(r"\b(?:for the record|note that|merke|à noter|nota:)\b", re.IGNORECASE)
_TROUBLE = re.compile(r"\b(?:Traceback|FAIL(?:ED)?|\w*Error|ERROR|exit (?:code|status) [1-9]\d*)\b")
_TRANSCRIPT = re.compile(r"^\s*(?:\[?(?:user|assistant|tool|person)\b[^:\]]*\]?[:>]\s*)", re.IGNORECASE)
_HEADINGS = {
    "en": ("Goal", "Decisions and why", "Exact data", "Troubles", "Files changed", "State: last steps"),
    "de": ("Ziel", "Entscheidungen und Gründe", "Genaue Daten", "Fehler", "Geänderte Dateien", "Stand"),
    "fr": ("But", "Décisions et raisons", "Données exactes", "Erreurs", "Fichiers modifiés", "État"),
    "es": ("Objetivo", "Decisiones y motivos", "Datos exactos", "Errores", "Archivos modificados", "Estado"),
    "zh": ("目标", "决定与原因", "准确数据", "错误", "已修改的文件", "当前状态"),
    "ja": ("目標", "決定と理由", "正確なデータ", "エラー", "変更したファイル", "現状"),
}
_COMMON = {
    "en": {"the", "and", "is", "to", "of", "that", "it", "with"},
    "de": {"der", "die", "und", "ist", "nicht", "das", "ich", "mit", "wir", "auf"},
    "fr": {"le", "la", "les", "et", "est", "que", "pas", "une", "je", "dans"},
    "es": {"el", "los", "y", "es", "que", "una", "no", "con", "por", "en"},
}
_LEDGER = re.compile(r"<ledger>.*?</ledger>", re.DOTALL)
_WRITERS = ("write_file", "edit_file")


@dataclass(slots=True)
class _Found:
    """Lines of a conversation by what they are good for, in order, each once."""

    goal: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def summarise(body: Mapping[str, Any]) -> str:
    """A summary of the request's messages; the order to summarise, its last text, is left out of it."""
    messages = body["messages"]
    *before, last = blocks_of(messages[-1]["content"])
    order = last["text"] if last["type"] == "text" else ""
    if not before and len(messages) == 1:
        before = [{"type": "text", "text": order.partition(ORDER)[0]}]
    found = _found([*messages[:-1], {"role": messages[-1]["role"], "content": before}])
    known = set(order.partition(KNOWN)[2].splitlines())
    headings = _HEADINGS[language(" ".join(found.words) or " ".join(found.goal))]
    return _written(headings, found, int(_asked(order, body) * SHARE), known)


def _asked(order: str, body: Mapping[str, Any]) -> int:
    asked_for = order.partition(KNOWN)[0]
    numbers = [int(re.sub(r"\D", "", number) or 0) for number in _ASKED.findall(asked_for)]
    asked = min((number for number in numbers if number >= 100), default=DEFAULT_TOKENS)
    return min(asked, int(body["max_tokens"]))


def _found(messages: Sequence[Mapping[str, Any]]) -> _Found:
    found = _Found()
    for number, message in enumerate(messages):
        for block in blocks_of(message["content"]):
            _sort(block, message["role"], found, first=number == 0)
    return found


def _sort(block: Mapping[str, Any], role: str, found: _Found, *, first: bool) -> None:
    match block["type"]:
        case "text" if role == "user":
            _sort_said(block["text"], found, first)
        case "text":
            lines = list(_lines(block["text"]))
            found.words.append(" ".join(lines))
            found.decisions.extend(line for line in lines if _DECISION.search(line))
            found.data.extend(_data(lines))
        case "tool_use" if block["name"] in _WRITERS:
            found.files.append(str(block["input"].get("path", "")))
        case "tool_result":
            for inner in blocks_of(block.get("content") or []):
                if inner["type"] == "text":
                    lines = list(_lines(inner["text"]))
                    found.data.extend(_data(lines))
                    found.troubles.extend(
                        line for line in lines if _TROUBLE.match(line) and not _DATA.search(line)
                    )


def _sort_said(text: str, found: _Found, first: bool) -> None:
    """A user's text: an earlier summary is taken apart again, notes stand elsewhere, the rest are wishes."""
    if text.startswith("<notes"):
        return
    if text.startswith("<summary"):
        _sort_summary(_LEDGER.sub("", text), found)
        return
    lines = [line for line in _lines(text) if line != GO_ON]
    found.goal.extend(lines[:4] if first else ())
    found.data.extend(_data(lines))


def _sort_summary(text: str, found: _Found) -> None:
    """Lines of an earlier summary go back to the sections they stood in; where things stood then is over."""
    places: tuple[list[str], ...] = (found.goal, found.decisions, found.data, found.troubles, found.files, [])
    kept: list[str] = found.data
    for line in text.splitlines():
        title = line.removeprefix("## ").strip()
        at = next((names.index(title) for names in _HEADINGS.values() if title in names), -1)
        if at >= 0:
            kept = places[at]
        elif line.startswith("- "):
            kept.append(line[2:])


def _data(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if _DATA.search(line) or _PROSE_DATA.search(line))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        bare = _TRANSCRIPT.sub("", line).strip()
        if bare and not bare.startswith("<"):
            yield bare[:_LINE_MOST]


def _written(headings: Sequence[str], found: _Found, room: int, known: set[str]) -> str:
    """Sections in order; each has a share of the room, the exact data first choice of it."""
    sections = (
        (headings[0], found.goal, 0.20),
        (headings[1], _newest(found.decisions, int(room * 0.35)), 0.35),
        (headings[2], _each_once(found.data), 0.50),
        (headings[3], _newest(found.troubles, int(room * 0.08)), 0.08),
        (headings[4], found.files, 0.10),
        (headings[5], found.words[-6:], 0.25),
    )
    parts, left = [], room
    for heading, lines, share in sections:
        fresh = (line for line in lines if line and line not in known)
        kept = list(_fitting(fresh, min(left, int(room * share))))
        if kept:
            parts.append("\n".join([f"## {heading}", *(f"- {line}" for line in kept)]))
            left -= count.text(parts[-1])
    return "\n\n".join(parts) or f"## {headings[0]}\n- {found.words[-1] if found.words else '…'}"


def _newest(lines: Sequence[str], room: int) -> list[str]:
    """As many of the last lines as fit, in their order."""
    return list(_fitting(reversed(list(dict.fromkeys(lines))), room))[::-1]


def _each_once(lines: Iterable[str]) -> list[str]:
    """One line for each thing that is named, however often and in whatever quotes it was printed."""
    named: dict[str, str] = {}
    for line in lines:
        found = _DATA.search(line)
        named.setdefault(found[0].strip("'\"]),;") if found else line, line)
    return list(named.values())


def _fitting(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in dict.fromkeys(lines):
        room -= count.text(line) + 2
        if room < 0:
            return
        yield line


def language(text: str) -> str:
    """The conversation's language, told by script and by its commonest words; English when in doubt."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\u4e00-\u9fff]", text):
        return "zh"
    words = re.findall(r"[^\W\d_]+", text.lower())
    return max(_COMMON, key=lambda name: sum(word in _COMMON[name] for word in words))


def _texts(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        for block in blocks_of(message["content"]):
            if block["type"] == "text":
                yield block["text"]
