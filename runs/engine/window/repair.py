"""From entries to a list the API accepts: W1-W3, W5-W7. On the way out only; the archive keeps what was said.

Deterministic: the same entries give the same list (W12), and each repair is named, so a person can see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from ..messages import Block, Role
from ..tokens import picture_size
from .lines import Line, inner, is_thinking

EMPTY = "(nothing was said)"
UNKNOWN = (
    "Interrupted: the outcome of this call is unknown. It may have finished, partly finished or not run. "
    "Check the state before you repeat it."
)
MANY_PICTURES, MANY_SIDE, MOST_PICTURES = 20, 2000, 100
MOST_PICTURE_BYTES = 24 * 1024 * 1024
"""Over 20 pictures each side is at most 2,000 px; over 100 are refused. Source: API limits as reported in issues."""


@dataclass(slots=True)
class Mended:
    lines: list[Line]
    repairs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """A line without what may stand in no list, and what was left out of it."""

    line: Line
    repairs: tuple[str, ...] = ()


def tidied(line: Line) -> Tidied:
    """Without blanks, foreign cache marks, unsigned thinking and halves of server tools: the same line when clean."""
    mended = Mended(lines=[])
    clean = _without_blanks(line, mended)
    return Tidied(line=clean, repairs=tuple(mended.repairs))


def mend(
    lines: Iterable[Line], *, max_pictures: int = MOST_PICTURES, max_picture_bytes: int = MOST_PICTURE_BYTES
) -> Mended:
    """A valid list with the same content, and the names of what had to be repaired."""
    return joined(
        [tidied(line) for line in lines], max_pictures=max_pictures, max_picture_bytes=max_picture_bytes
    )


def joined(lines: Sequence[Tidied], *, max_pictures: int, max_picture_bytes: int) -> Mended:
    """The same for lines that were tidied before. A line that needs nothing stays the same object."""
    mended = Mended(lines=[], repairs=[repair for line in lines for repair in line.repairs])
    merged = _merged([line.line for line in lines])
    unique = _unique_ids(merged, mended)
    mended.lines = _bounded(_paired(unique, mended), mended)
    mended.lines = _pictures(mended.lines, max_pictures, max_picture_bytes, mended)
    return mended


def _without_blanks(line: Line, mended: Mended) -> Line:
    kept = tuple(block for block in (_unmarked(block) for block in line.blocks) if not _is_blank(block))
    kept = _server_pairs(kept, mended)
    return _with(line, kept)


def _unmarked(block: Block) -> Block:
    """Without foreign cache marks, and without blank text inside a result."""
    if "cache_control" in block:
        block = {key: value for key, value in block.items() if key != "cache_control"}
    content = block.get("content")
    if block["type"] == "tool_result" and isinstance(content, list | tuple):
        parts = [_unmarked(part) for part in content if not _is_blank(part)]
        if len(parts) != len(content) or any(a is not b for a, b in zip(parts, content, strict=True)):
            block = {**block, "content": parts or EMPTY}
    return block


def _is_blank(block: Block) -> bool:
    if block["type"] == "text":
        return not block["text"].strip()
    return block["type"] == "thinking" and not block.get("signature")


def _server_pairs(blocks: tuple[Block, ...], mended: Mended) -> tuple[Block, ...]:
    """A server tool's call and its result stand in one message, or neither does (W6)."""
    calls = {block["id"] for block in blocks if block["type"] == "server_tool_use"}
    results = {block["tool_use_id"] for block in blocks if _is_server_result(block)}
    lonely = calls ^ results
    if not lonely:
        return blocks
    mended.repairs.append(f"half of a server tool's pair was left out: {', '.join(sorted(lonely))}")
    return tuple(block for block in blocks if _server_id(block) not in lonely)


def _is_server_result(block: Block) -> bool:
    return block["type"].endswith("_tool_result") and block["type"] not in ("tool_result", "mcp_tool_result")


def _server_id(block: Block) -> str | None:
    if block["type"] == "server_tool_use":
        return str(block["id"])
    return str(block["tool_use_id"]) if _is_server_result(block) else None


def _merged(lines: Sequence[Line]) -> list[Line]:
    """Neighbours of one role become one message; an empty one vanishes, or says that it is empty. Thinking at the
    end of an answer leads nowhere (its call was cut off, or its text was blank), and is refused there."""
    merged: list[Line] = []
    for at, line in enumerate(lines):
        if merged and merged[-1].role is line.role:
            merged[-1] = replace(merged[-1], blocks=merged[-1].blocks + line.blocks)
        elif line.blocks or _stands_between(merged, lines[at + 1 :], line):
            merged.append(line)
    for at, line in enumerate(merged):
        if line.ends_in_thought:
            merged[at] = line = _without_last_thoughts(line)
        if not line.blocks:
            merged[at] = replace(line, blocks=({"type": "text", "text": EMPTY},))
    return merged


def _without_last_thoughts(line: Line) -> Line:
    blocks = line.blocks
    while blocks and is_thinking(blocks[-1]):
        blocks = blocks[:-1]
    return replace(line, blocks=blocks)


def _stands_between(before: Sequence[Line], after: Sequence[Line], line: Line) -> bool:
    return bool(before and after and before[-1].role is not line.role)


def _unique_ids(lines: list[Line], mended: Mended) -> list[Line]:
    """A tool_use id that was used before gets a fresh one, in the call and in its results (A17)."""
    seen: set[str] = set()
    out: list[Line] = []
    renamed: dict[str, list[str]] = {}
    for line in lines:
        if line.role is Role.ASSISTANT:
            renamed = {}
            if _is_fresh(line.calls, seen):
                seen.update(line.calls)
                out.append(line)
                continue
            line = _with(line, tuple(_fresh(block, seen, renamed, mended) for block in line.blocks))
        elif renamed:
            line = _with(line, tuple(_follow(block, renamed) for block in line.blocks))
            renamed = {}
        out.append(line)
    return out


def _is_fresh(calls: Sequence[str], seen: set[str]) -> bool:
    return seen.isdisjoint(calls) and len(set(calls)) == len(calls) and all(calls)


def _fresh(block: Block, seen: set[str], renamed: dict[str, list[str]], mended: Mended) -> Block:
    if block["type"] != "tool_use":
        return block
    given = str(block["id"])
    chosen, count = given, 1
    while chosen in seen or not chosen:
        count += 1
        chosen = f"{given or 'call'}_{count}"
    seen.add(chosen)
    if chosen != given:
        mended.repairs.append(f"a second call {given!r} is sent as {chosen!r}")
    if chosen != given or given in renamed:
        renamed.setdefault(given, []).append(chosen)
        return {**block, "id": chosen}
    renamed[given] = [given]
    return block


def _follow(block: Block, renamed: dict[str, list[str]]) -> Block:
    if block["type"] != "tool_result" or not renamed.get(block["tool_use_id"]):
        return block
    chosen = renamed[block["tool_use_id"]].pop(0)
    return block if chosen == block["tool_use_id"] else {**block, "tool_use_id": chosen}


def _paired(lines: list[Line], mended: Mended) -> list[Line]:
    """Every call is answered in the next message, results first, in call order, once (W2)."""
    out: list[Line] = []
    for line in lines:
        calls = _open_calls(out)
        if line.role is Role.USER:
            if line.results != calls or not line.results_first:
                line = _answering(line, calls, mended)
        elif calls:
            out.append(_synthetic(calls, mended))
        if line.blocks:
            out.append(line)
    if _open_calls(out):
        out.append(_synthetic(_open_calls(out), mended))
    return out


def _open_calls(lines: Sequence[Line]) -> list[str]:
    return lines[-1].calls if lines and lines[-1].role is Role.ASSISTANT else []


def _answering(line: Line, calls: Sequence[str], mended: Mended) -> Line:
    given: dict[str, Block] = {}
    rest: list[Block] = []
    for block in line.blocks:
        if block["type"] != "tool_result":
            rest.append(block)
        elif block["tool_use_id"] in calls and block["tool_use_id"] not in given:
            given[block["tool_use_id"]] = block
        else:
            mended.repairs.append(f"a result without its call was left out: {str(block['tool_use_id'])[:40]}")
    missing = [call for call in calls if call not in given]
    if missing:
        mended.repairs.append(f"a call without a result was answered: {', '.join(missing)[:80]}")
    results = tuple(given.get(call) or unknown_result(call) for call in calls)
    return _with(line, (*results, *rest))


def _with(line: Line, blocks: tuple[Block, ...]) -> Line:
    """The line with these blocks: the very same one when they are its own."""
    if len(blocks) == len(line.blocks) and all(map(is_, blocks, line.blocks)):
        return line
    return replace(line, blocks=blocks)


def unknown_result(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": UNKNOWN, "is_error": True}


def _synthetic(calls: Sequence[str], mended: Mended) -> Line:
    mended.repairs.append(f"a call without a result was answered: {', '.join(calls)[:80]}")
    return Line(role=Role.USER, blocks=tuple(unknown_result(call) for call in calls))


def _bounded(lines: list[Line], mended: Mended) -> list[Line]:
    """Starts and ends with user (W1); neighbours that a repair left equal are merged again."""
    lines = _merged(lines)
    if lines and lines[0].role is Role.ASSISTANT:
        lines.insert(
            0, Line(role=Role.USER, blocks=({"type": "text", "text": "(the beginning is in the archive)"},))
        )
        mended.repairs.append("the list began with the assistant")
    if lines and lines[-1].role is Role.ASSISTANT:
        lines.append(Line(role=Role.USER, blocks=({"type": "text", "text": "Continue."},)))
    return lines


def _pictures(lines: list[Line], most: int, most_bytes: int, mended: Mended) -> list[Line]:
    """The oldest pictures over the API's number or bytes, and large ones among many, become a line of text (W7)."""
    found = [block for line in lines for block in line.pictures]
    drop = {id(block) for block in found[: max(0, len(found) - most)]}
    left = sum(_bytes(block) for block in found if id(block) not in drop)
    for block in found:
        if left <= most_bytes:
            break
        if id(block) not in drop:
            drop.add(id(block))
            left -= _bytes(block)
    if len(found) - len(drop) > MANY_PICTURES:
        drop |= {id(block) for block in found if max(picture_size(block) or (0, 0)) > MANY_SIDE}
    if not drop:
        return lines
    mended.repairs.append(f"{len(drop)} pictures are sent as a line of text")
    return [replace(line, blocks=tuple(_named(block, drop) for block in line.blocks)) for line in lines]


def _bytes(block: Block) -> int:
    return len((block.get("source") or {}).get("data") or "")


def _named(block: Block, drop: set[int]) -> Block:
    if id(block) in drop:
        size = picture_size(block)
        return {
            "type": "text",
            "text": f"[picture{f', {size[0]} × {size[1]} px' if size else ''}: in the archive]",
        }
    if any(id(part) in drop for part in inner(block)):
        return {**block, "content": [_named(part, drop) for part in inner(block)]}
    return block
