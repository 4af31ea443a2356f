"""The search index, below search: what goes in, and which messages a query finds, the same on both databases.

A message goes by its run's id and its number, put together in one key: a search within a run is a range. Neither
database's own ranking is used: they disagree, and one person's words would move another's hits. First come messages
that hold the words side by side, then the shorter ones (by the digits of their tokens), then the newer ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from runs.engine.messages import Block, result_text

from . import folding, sql

RUN_BITS = 32
PART_TOKENS = 10_000
PART_BYTES = 900_000
SAME_TOKEN = 255
"""Postgres counts positions up to 16,383, keeps 255 of a token and 1 MB a vector, and forgets or refuses the rest. So
there a message has as many rows as it takes, each of which begins with the last tokens of the one before."""

LONGEST_PHRASE = 32
"""Tokens side by side that are looked for, and by one more than which rows overlap."""

RANKED = """SELECT found.id, {together} AS together, length(CAST(m.tokens AS text)) AS digits
    FROM ({found}) AS found
    JOIN runs_message AS m ON m.run_id = found.id >> 32 AND m.number = found.id & 4294967295
    ORDER BY together DESC, digits, found.id DESC LIMIT %s"""
MATCHES = {
    "sqlite": "SELECT rowid AS id FROM runs_search WHERE runs_search MATCH %s AND rowid >= %s AND rowid < %s",
    "postgresql": "SELECT DISTINCT id FROM runs_search WHERE folded @@ %s::tsquery AND id >= %s AND id < %s",
}


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


def insertions(run_id: int, messages: Sequence[tuple[int, str]]) -> Iterator[sql.Act]:
    """What indexes messages: their numbers and texts."""
    folded = [(key(run_id, number), folding.fold(text)) for number, text in messages]
    if connection.vendor == "postgresql":
        rows = [(place, part, vector) for place, text in folded for part, vector in enumerate(_vectors(text))]
        return sql.insertions("runs_search", ("id", "part", "folded"), rows)
    return sql.insertions("runs_search", ("rowid", "folded"), folded)


def find(query: str, *, run_id: int | None, limit: int) -> list[Place]:
    """The messages that hold every word of the query, best first. Any text is a valid query."""
    asked = list(folding.words(query))
    if not asked:
        return []
    span = (0, 1 << 62) if run_id is None else (key(run_id, 0), key(run_id + 1, 0))
    ask = _tsqueries if connection.vendor == "postgresql" else _match
    matches, wanted = MATCHES[connection.vendor], ask(asked)
    found = " INTERSECT ".join([matches] * len(wanted))
    values: list[Any] = [value for one in wanted for value in (one, *span)]
    together = "0"
    if phrase := _phrase_of(asked):
        together = f"CASE WHEN found.id IN ({matches}) THEN 1 ELSE 0 END"
        values = [*ask([[phrase]]), *span, *values]
    ranked = sql.rows(RANKED.format(together=together, found=found), [*values, limit])
    return [
        Place(
            run_id=place >> RUN_BITS, number=place & 0xFFFFFFFF, score=float(10 * side_by_side + 10 - digits)
        )
        for place, side_by_side, digits in ranked
    ]


def _phrase_of(asked: Sequence[Sequence[folding.Form]]) -> folding.Form | None:
    """All words as they stand in the query, if there are several and not too many to be looked for side by side."""
    first = [forms[0] for forms in asked]
    tokens = tuple(token for form in first for token in form.tokens)
    fits = len(first) > 1 and len(tokens) <= LONGEST_PHRASE and not any(form.starts for form in first)
    return folding.Form(tokens=tokens) if fits else None


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


def _match(asked: Sequence[Sequence[folding.Form]]) -> list[str]:
    """An FTS5 query: every word, each as itself or as its pieces side by side; all of it quoted."""
    return [" AND ".join(f"({' OR '.join(_quoted(form) for form in forms)})" for forms in asked)]


def _quoted(form: folding.Form) -> str:
    return f'"{" ".join(form.tokens[:LONGEST_PHRASE])}"' + (" *" if form.starts else "")


def _tsqueries(asked: Sequence[Sequence[folding.Form]]) -> list[str]:
    """The same for Postgres, a query a word: they may stand in different rows of one message."""
    return [" | ".join(_phrase(form) for form in forms) for forms in asked]


def _phrase(form: folding.Form) -> str:
    tail = ":*" if form.starts else ""
    return f"({' <-> '.join(_lexeme(token) + tail for token in form.tokens[:LONGEST_PHRASE])})"


def _lexeme(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def _vectors(folded: str) -> Iterator[str]:
    for part in _parts(folded.split()):
        places: dict[str, list[str]] = defaultdict(list)
        for position, token in enumerate(part, 1):
            places[token].append(str(position))
        yield " ".join(f"{_lexeme(token)}:{','.join(at)}" for token, at in places.items())


def _fits(tokens: Sequence[str]) -> bool:
    """Whether they surely do into one vector."""
    small = len(tokens) <= PART_TOKENS and 4 * sum(map(len, tokens)) <= PART_BYTES
    return small and max(Counter(tokens).values(), default=0) <= SAME_TOKEN


def _parts(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Stretches that fit into a vector each, overlapping so that no phrase is cut."""
    if _fits(tokens):
        yield tokens
        return
    start, size, seen = 0, 0, Counter[str]()
    for at, token in enumerate(tokens):
        if at - start >= PART_TOKENS or size > PART_BYTES or seen[token] >= SAME_TOKEN:
            yield tokens[start:at]
            start = at - LONGEST_PHRASE
            seen = Counter(tokens[start:at])
            size = sum(len(one.encode()) for one in tokens[start:at])
        seen[token] += 1
        size += len(token.encode())
    yield tokens[start:]
