"""What the rows of turns are made of: messages and calls with their bodies, in one query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from runs.engine.messages import Author, Block, Counted, Kind, Message, Role

from . import blobs, sql

MESSAGES = """SELECT m.kind, m.turn, m.number, m.role, m.author, m.tokens, m.counted, m."by", '', 0,
    m.blob_id, b.codec, b.body FROM runs_message m LEFT JOIN runs_blob b ON b.sha256 = m.blob_id WHERE m.run_id = %s"""
CALLS = """SELECT 'call', c.turn, 0, c.status, '', c.tokens, '', '', c.tool_use_id, c.ms,
    c.result_id, b.codec, b.body FROM runs_call c LEFT JOIN runs_blob b ON b.sha256 = c.result_id WHERE c.run_id = %s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call as far as a row tells of it. `result`: its tool_result, None until it has ended."""

    turn: int
    id: str
    status: str
    tokens: int
    ms: int
    result: Block | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`messages` in order; `calls` by turn and tool_use_id."""

    messages: tuple[Message, ...] = ()
    calls: Mapping[tuple[int, str], Called]


def read(run_id: int, numbers: Collection[int], turns: Collection[int]) -> Found:
    """The messages with these numbers; of these turns the answers, the results and the calls. Raises MissingBlob."""
    if not numbers and not turns:
        return Found(calls={})
    found = sql.rows(*_query(run_id, sorted(numbers), sorted(turns)))
    if any(row[0] != "call" and row[12] is None for row in found):
        raise blobs.MissingBlob("The archive lacks the body of a message.")
    contents = blobs.values({row[10]: (row[11], row[12]) for row in found if row[12] is not None})
    calls = [_call(row, contents) for row in found if row[0] == "call"]
    messages = (_message(row, contents) for row in found if row[0] != "call")
    return Found(
        messages=tuple(sorted(messages, key=lambda message: message.number)),
        calls={(call.turn, call.id): call for call in calls},
    )


def _query(run_id: int, numbers: list[int], turns: list[int]) -> tuple[str, list[int]]:
    of_turns = f"turn IN ({sql.marks(turns)})"
    if not turns:
        return f"{MESSAGES} AND m.number IN ({sql.marks(numbers)})", [run_id, *numbers]
    wanted = f"(m.{of_turns} AND m.kind IN ('answer', 'results'))"
    if numbers:
        wanted = f"({wanted} OR m.number IN ({sql.marks(numbers)}))"
    statement = f"{MESSAGES} AND {wanted} UNION ALL {CALLS} AND c.{of_turns}"
    return statement, [run_id, *turns, *numbers, run_id, *turns]


def _message(row: sql.Row, contents: Mapping[str, Iterable[Block]]) -> Message:
    kind, turn, number, role, author, tokens, counted, by, _, _, digest, _, _ = row
    return Message(
        number=number,
        role=Role(role),
        author=Author(author),
        kind=Kind(kind),
        turn=turn,
        content=tuple(contents[digest]),
        tokens=tokens,
        counted=Counted(counted),
        by=by,
    )


def _call(row: sql.Row, contents: Mapping[str, Block]) -> Called:
    _, turn, _, status, _, tokens, _, _, call_id, ms, digest, _, _ = row
    return Called(
        turn=turn,
        id=call_id,
        status=status,
        tokens=tokens,
        ms=ms,
        result=contents.get(digest) if digest else None,
    )
