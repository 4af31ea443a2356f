"""The strict validator: W1-W7 of what is about to be sent. An empty answer means it may go.

Stricter than the API where other endpoints are: roles alternate, the first and the last message are the person's side.
Source of the rules: the API's validation messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_

from ..messages import Role
from .lines import Line
from .repair import NO_FRONT, Front

MOST_MARKS = 4
MOST_MESSAGES = 100_000
MOST_BYTES = 32 * 1024 * 1024


def problems(lines: Sequence[Line], front: Front = NO_FRONT) -> list[str]:
    """What the API, or another endpoint, would refuse; [] when clean. Positions count from 0. The lines of the front
    have been looked at: each rule is about a line, its neighbours, and the ids of the calls before it."""
    stands = len(front.lines) <= len(lines) and all(map(is_, front.lines, lines))
    return list(_problems(lines, front if stands else NO_FRONT))


def _problems(lines: Sequence[Line], front: Front) -> Iterator[str]:
    if not lines:
        yield "messages: at least one message is required"
        return
    if lines[0].role is not Role.USER:
        yield "messages.0: the first message must be the user's"
    if lines[-1].role is not Role.USER:
        yield f"messages.{len(lines) - 1}: the last message must be the user's"
    if len(lines) > MOST_MESSAGES:
        yield f"messages: {len(lines)} are more than {MOST_MESSAGES}"
    seen = set(front.ids)
    calls: list[str] = []
    for at, line in enumerate(lines[len(front.lines) :], len(front.lines)):
        if at and lines[at - 1].role is line.role:
            yield f"messages.{at}: two neighbours have the role {line.role.value}"
        yield from (f"messages.{at}{fault}" for fault in line.faults)
        yield from _pairs(at, line, calls)
        calls = line.calls
        for call in calls:
            if call in seen:
                yield f"messages.{at}: the call id {call!r} is used twice"
            seen.add(call)


def _pairs(at: int, line: Line, calls: Sequence[str]) -> Iterator[str]:
    if line.role is Role.USER and line.results != calls:
        yield f"messages.{at}: results {line.results} do not answer the calls {calls} in their order"
    if line.role is Role.ASSISTANT and (calls or line.results):
        yield f"messages.{at}: a call is not answered in the next message"
