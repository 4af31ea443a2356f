"""From entries to a list the API accepts: W1-W3, W5-W7. On the way out only; the archive keeps what was said.

Deterministic: the same entries give the same list (W12), and each repair is named, so a person can see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import is_

from ..messages import Block, Role
from .lines import BAD_NAME, Line, is_thinking
from .media import MOST_PICTURE_BYTES, MOST_PICTURES, within_limits
from .tidy import EMPTY, Mended, Tidied, tidied, with_blocks

UNKNOWN = (
    "Interrupted: the outcome of this call is unknown. It may have finished, partly finished or not run. "
    "Check the state before you repeat it."
)
_EMPTY_LINE = Line(role=Role.USER, blocks=({"type": "text", "text": EMPTY},))


def mend(
    lines: Iterable[Line], *, max_pictures: int = MOST_PICTURES, max_picture_bytes: int = MOST_PICTURE_BYTES
) -> Mended:
    """A valid list with the same content, and the names of what had to be repaired."""
    return joined(
        [tidied(line) for line in lines], max_pictures=max_pictures, max_picture_bytes=max_picture_bytes
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What a list began with when it was joined last: it ends before an answer, nothing in it had to be repaired, and
    it may be sent. What is said later changes none of it: each repair looks at a line, its neighbours, and the ids of
    the calls before it. Pictures are another matter: the oldest give way to new ones."""

    tidied: Sequence[Tidied] = ()
    lines: Sequence[Line] = ()
    ids: frozenset[str] = frozenset()
    pictures: bool = False

    def stands(self, lines: Sequence[Tidied]) -> bool:
        """Whether these lines begin with it, and go on with an answer."""
        at = len(self.tidied)
        if at >= len(lines) or not all(map(is_, self.tidied, lines)):
            return False
        return lines[at].line.role is Role.ASSISTANT and bool(lines[at].line.blocks)


NO_FRONT = Front()


def joined(
    lines: Sequence[Tidied], *, max_pictures: int, max_picture_bytes: int, front: Front = NO_FRONT
) -> Mended:
    """The same for lines that were tidied before; they begin with the front. A line that needs nothing stays the same
    object."""
    new = lines[len(front.tidied) :]
    mended = Mended(lines=[], repairs=[repair for line in new for repair in line.repairs])
    merged = _merged([line.line for line in new])
    if new and not merged:
        merged = [_EMPTY_LINE]
    unique = _unique_ids(merged, set(front.ids), mended)
    rest = _bounded(_paired(unique, mended), mended, begins=not front.lines)
    if front.pictures:
        rest = [*front.lines, *rest]
    rest = within_limits(rest, max_pictures, max_picture_bytes, mended)
    mended.lines = rest if front.pictures else [*front.lines, *rest]
    return mended


def front_of(lines: Sequence[Tidied], mended: Mended, before: Front) -> Front:
    """The front of a list that was joined from these lines and may be sent: all before its last answer."""
    if mended.repairs:
        return NO_FRONT
    places = range(len(lines) - 1, len(before.tidied) - 1, -1)
    last = next((at for at in places if lines[at].line.role is Role.ASSISTANT), -1)
    spots = range(len(mended.lines) - 1, len(before.lines) - 1, -1)
    spot = next((spot for spot in spots if mended.lines[spot] is lines[last].line), 0)
    if last < 0 or not spot:
        return before
    new = mended.lines[len(before.lines) : spot]
    return Front(
        tidied=lines[:last],
        lines=mended.lines[:spot],
        ids=before.ids.union(*(line.calls for line in new)),
        pictures=before.pictures or any(line.media for line in new),
    )


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


def _unique_ids(lines: list[Line], seen: set[str], mended: Mended) -> list[Line]:
    """A tool_use id that was used before, or is none, gets a fresh one, in the call and in its results (A17)."""
    out: list[Line] = []
    renamed: dict[str, list[str]] = {}
    for line in lines:
        if line.role is Role.ASSISTANT:
            renamed = {}
            if _is_fresh(line, seen):
                seen.update(line.calls)
                out.append(line)
                continue
            line = with_blocks(line, tuple(_fresh(block, seen, renamed, mended) for block in line.blocks))
        elif renamed:
            line = with_blocks(line, tuple(_follow(block, renamed) for block in line.blocks))
            renamed = {}
        out.append(line)
    return out


def _is_fresh(line: Line, seen: set[str]) -> bool:
    calls = line.calls
    return line.proper_ids and seen.isdisjoint(calls) and len(set(calls)) == len(calls)


def _fresh(block: Block, seen: set[str], renamed: dict[str, list[str]], mended: Mended) -> Block:
    if block["type"] != "tool_use":
        return block
    given = str(block["id"])
    plain = BAD_NAME.sub("_", given)
    chosen, count = plain, 1
    while chosen in seen or not chosen:
        count += 1
        chosen = f"{plain or 'call'}_{count}"
    seen.add(chosen)
    if chosen != given:
        mended.repairs.append(
            f"the call {given[:40]!r} is sent as {chosen[:60]!r}: its id was used before, or is none"
        )
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
    return with_blocks(line, (*results, *rest))


def unknown_result(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": UNKNOWN, "is_error": True}


def _synthetic(calls: Sequence[str], mended: Mended) -> Line:
    mended.repairs.append(f"a call without a result was answered: {', '.join(calls)[:80]}")
    return Line(role=Role.USER, blocks=tuple(unknown_result(call) for call in calls))


def _bounded(lines: list[Line], mended: Mended, *, begins: bool) -> list[Line]:
    """Starts and ends with user (W1); neighbours that a repair left equal are merged again."""
    lines = _merged(lines)
    if begins and lines and lines[0].role is Role.ASSISTANT:
        lines.insert(
            0, Line(role=Role.USER, blocks=({"type": "text", "text": "(the beginning is in the archive)"},))
        )
        mended.repairs.append("the list began with the assistant")
    if lines and lines[-1].role is Role.ASSISTANT:
        lines.append(Line(role=Role.USER, blocks=({"type": "text", "text": "Continue."},)))
    return lines
