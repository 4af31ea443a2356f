"""The search index, below search: what goes in, and which messages a query finds.

A message goes by its run's id and its number, put together in one key: a search within a run is a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection

from runs.engine.messages import Block, result_text

from . import folding, sql

RUN_BITS = 32
PART_TOKENS = 10_000
"""Postgres counts positions up to 16,383 and holds 1 MB a vector: longer messages have several rows there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A message that a query found. A higher score is a better hit."""

    run_id: int
    number: int
    score: float


def key(run_id: int, number: int) -> int:
    return (run_id << RUN_BITS) + number


def text_of(content: Sequence[Block]) -> str:
    """Everything readable in a message: what was said, thought, asked of tools, and given back by them."""
    return "\n".join(line for block in content for line in _lines(block))


def write(run_id: int, messages: Sequence[tuple[int, str]]) -> None:
    """Index messages: their numbers and texts."""
    folded = [(key(run_id, number), folding.fold(text)) for number, text in messages]
    if connection.vendor == "postgresql":
        rows = [(place, part, vector) for place, text in folded for part, vector in enumerate(_vectors(text))]
        sql.insert("runs_search", ("id", "part", "folded"), rows)
    else:
        sql.insert("runs_search", ("rowid", "folded"), folded)


def find(query: str, *, run_id: int | None, limit: int) -> list[Place]:
    """The messages that hold every word of the query, best first. Any text is a valid query."""
    asked = list(folding.words(query))
    if not asked:
        return []
    low, high = (0, 1 << 62) if run_id is None else (key(run_id, 0), key(run_id + 1, 0))
    if connection.vendor == "postgresql":
        found = sql.rows(
            """SELECT id, max(ts_rank(folded, %s::tsquery)) AS score FROM runs_search
               WHERE folded @@ %s::tsquery AND id >= %s AND id < %s
               GROUP BY id ORDER BY score DESC, id DESC LIMIT %s""",
            [_tsquery(asked), _tsquery(asked), low, high, limit],
        )
    else:
        found = sql.rows(
            """SELECT rowid, -rank FROM runs_search WHERE runs_search MATCH %s AND rowid >= %s AND rowid < %s
               ORDER BY rank, rowid DESC LIMIT %s""",
            [_match(asked), low, high, limit],
        )
    return [Place(run_id=place >> RUN_BITS, number=place & 0xFFFFFFFF, score=score) for place, score in found]


def _lines(block: Block) -> Iterator[str]:
    kind = block["type"]
    if kind == "text":
        yield block["text"]
    elif kind == "thinking":
        yield block.get("thinking", "")
    elif kind == "tool_use":
        yield block["name"]
        yield from _strings(block.get("input"))
    elif kind == "tool_result":
        yield result_text(block)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key_, item in value.items():
            yield str(key_)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif value is not None:
        yield str(value)


def _match(asked: Sequence[Sequence[folding.Form]]) -> str:
    """An FTS5 query: every word, each as itself or as its pieces side by side; all of it quoted."""
    return " AND ".join(f"({' OR '.join(_quoted(form) for form in forms)})" for forms in asked)


def _quoted(form: folding.Form) -> str:
    return f'"{" ".join(form.tokens)}"' + (" *" if form.starts else "")


def _tsquery(asked: Sequence[Sequence[folding.Form]]) -> str:
    return " & ".join(f"({' | '.join(_phrase(form) for form in forms)})" for forms in asked)


def _phrase(form: folding.Form) -> str:
    tail = ":*" if form.starts else ""
    return f"({' <-> '.join(_lexeme(token) + tail for token in form.tokens)})"


def _lexeme(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def _vectors(folded: str) -> Iterator[str]:
    tokens = folded.split(" ")
    for start in range(0, len(tokens), PART_TOKENS):
        part = tokens[start : start + PART_TOKENS]
        yield " ".join(f"{_lexeme(token)}:{position}" for position, token in enumerate(part, 1) if token)
