"""Messages: the lines of a conversation, in the Messages API's own block form."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Block: TypeAlias = Mapping[str, Any]
"""One content block exactly as the Messages API writes it: {"type": "text", "text": …} and its siblings."""

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
MAX_DEPTH = 100
UNREADABLE = "unreadable_input"
"""The only key of a call's input that was no JSON object: it holds what came instead. No tool takes it."""


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class Author(StrEnum):
    PERSON = "person"
    LLM = "llm"
    TOOL = "tool"
    PRODUCT = "product"


class Kind(StrEnum):
    GOAL = "goal"
    SAY = "say"
    ANSWER = "answer"
    RESULTS = "results"
    EPISODE = "episode"
    NOTES = "notes"
    NOTICE = "notice"
    REPAIR = "repair"


class Counted(StrEnum):
    """Where a token number comes from: the provider's usage, or our estimate."""

    USAGE = "usage"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One archived message. `number` counts from 1 within the run and never changes."""

    number: int
    role: Role
    author: Author
    kind: Kind
    turn: int
    content: tuple[Block, ...]
    tokens: int = 0
    counted: Counted = Counted.ESTIMATE
    by: str = ""

    @property
    def is_persons(self) -> bool:
        """True for the goal and everything a person said: it stands verbatim in every window (W8)."""
        return self.author is Author.PERSON


def text(value: str) -> Block:
    return {"type": "text", "text": value}


def texts_of(content: Sequence[Block]) -> str:
    """All text blocks of a message, a line each."""
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def result_text(block: Block) -> str:
    """The text of a tool_result, whether its content is a string, blocks or absent. What holds none becomes a note."""
    content = block.get("content") or ""
    return content if isinstance(content, str) else "\n".join(map(_part_text, content))


def _part_text(part: Block) -> str:
    """Documents of text and search results are text as well."""
    source = part.get("source")
    if part["type"] == "text":
        return str(part["text"])
    if part["type"] == "document" and isinstance(source, Mapping) and source.get("type") == "text":
        return str(source.get("data") or "")
    if part["type"] == "search_result":
        return "\n".join([f"{part.get('title')} {source}", *map(_part_text, part.get("content") or ())])
    return f"[{part['type']}]"


def calls_of(content: Sequence[Block]) -> list[Block]:
    return [block for block in content if block["type"] == "tool_use"]


def results_of(content: Sequence[Block]) -> list[Block]:
    return [block for block in content if block["type"] == "tool_result"]


def canonical(value: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8. Hashes are taken over it."""
    return _CANONICAL.encode(value).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def as_it_came(content: Sequence[Block]) -> str:
    """Blocks before anything was done to them, as JSON in ASCII: what no database takes is escaped, and stays."""
    try:
        return json.dumps(list(content), sort_keys=True, separators=(",", ":"))
    except (RecursionError, TypeError):  # too deep, or keys of several kinds; the message holds what is kept
        return ""


def clean(value: Any, depth: int = 0) -> Any:
    """The gate for everything that comes from outside: NUL, lone surrogates, NaN and bottomless nesting.

    Postgres refuses NUL, UTF-8 refuses surrogates, JSON knows no NaN; each becomes its visible twin, so both
    databases store the same. Clean values are returned as they are. A number comes as Postgres would write it:
    else its hash would not fit what is read there.
    """
    if depth > MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, float):
        return _clean_number(value)
    if isinstance(value, Mapping):
        return {_clean_text(str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item, depth + 1) for item in value]
    return value


def _clean_number(value: float) -> float | int | str:
    """No negative zero, and no exponent where digits will do: 1e+16 is 10000000000000000."""
    if not math.isfinite(value):
        return str(value)
    return int(value) if abs(value) >= 1e16 else value + 0.0


def _clean_text(value: str) -> str:
    if value.isascii() and "\x00" not in value:
        return value
    return value.replace("\x00", "\u2400").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
