"""Spiral: compact, read the same again, compact. What a summary loses is read again, fills the window, and is folded
again. The agent is told to take notes, more of the tail stays, and at last the run is paused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..errors import Spiralling
from ..events import Event, NoticeGiven, SpiralSeen
from ..messages import Kind, Message, calls_of, canonical
from ..window.cut import Keep
from ..window.head import notice
from ..window.versions import Entry, Window
from .base import Desk, percent

NUDGE = (
    "After each of the last {times} summaries you read again what you had read before them. Take a note of what you "
    "need from it (take_note), then go on from the note."
)
READS, WRITES = ("read_file", "list_files", "search_files"), ("write_file", "edit_file")
AGAIN, FEWEST = 0.5, 3
"""A circle: at least half of what was read between two compactions, and at least so many calls, had been asked in the
stretch before, and nothing of it was written since."""

LOOK_BACK = 40
"""Turns before the last compaction in which a call counts as asked before."""

KEPT_TIMES = 2
"""So much more of the tail stays while the run goes in circles."""


def seen(desk: Desk) -> Iterator[Event]:
    """Told once for each episode, before the next call. The count is kept with the episode, so a worker that takes the
    run up counts on. Raises Spiralling."""
    times, policy, episode = circles(desk), desk.policy.valves, desk.record.episode
    if not policy.spiral_nudge or times < policy.spiral_nudge or not _is_news(desk.window):
        return
    yield SpiralSeen(turn=desk.turn, times=times)
    line = notice(desk.numbers.message, desk.turn, NUDGE.format(times=times))
    yield NoticeGiven(turn=desk.turn, message=line)
    desk.window.append(line)
    desk.numbers.message += 1
    if policy.spiral_pause and times >= policy.spiral_pause:
        share = percent(episode.scores["read again"]) if episode else ""
        raise Spiralling(
            f"After each of the last {times} compactions the agent read the same again ({share} of what it read). "
            "Raise the limit, say what it shall note, or resume."
        )


def circles(desk: Desk) -> int:
    """Compactions in a row before which what was read had been read before."""
    return int(desk.record.episode.scores.get("circles", 0)) if desk.record.episode else 0


def keep_rule(desk: Desk) -> Keep:
    """How much of the tail a compaction leaves: what the policy says, more while the run goes in circles."""
    policy, nudge = desk.policy.compact, desk.policy.valves.spiral_nudge
    times = KEPT_TIMES if nudge and circles(desk) >= nudge else 1
    return Keep(
        tokens=int(times * policy.keep * desk.limit),
        messages=times * policy.keep_messages,
        cap=int(min(times * policy.keep_cap, 1.0) * desk.limit),
    )


def scores(desk: Desk, span: Sequence[Entry]) -> dict[str, float]:
    """What a compaction of this span tells: the share of its reads that the stretch before had made, and the circles
    in a row. Empty for the first compaction and where nothing was read."""
    before = desk.record.episode
    asked = _reads(entry.message for entry in span)
    if before is None or not asked:
        return {}
    turns = range(max(before.first_turn, before.last_turn - LOOK_BACK + 1), before.last_turn + 1)
    then = [message for turn in turns for message in desk.history.of_turn(turn)]
    changed = _written([*then, *(entry.message for entry in span)])
    again = {key for key in asked.keys() & _reads(then).keys() if asked[key] not in changed}
    share = len(again) / len(asked)
    is_circle = share >= AGAIN and len(again) >= FEWEST
    return {"read again": round(share, 2), "circles": circles(desk) + 1 if is_circle else 0}


def _reads(messages: Iterable[Message]) -> dict[bytes, str]:
    """Each call that reads, by its name and input, with its path."""
    return {
        canonical([call["name"], call["input"]]): str(call["input"].get("path", ""))
        for message in messages
        for call in calls_of(message.content)
        if call["name"] in READS
    }


def _written(messages: Iterable[Message]) -> set[str]:
    calls = [call for message in messages for call in calls_of(message.content)]
    return {str(call["input"].get("path", "")) for call in calls if call["name"] in WRITES}


def _is_news(window: Window) -> bool:
    """Each episode is spoken of once."""
    start = NUDGE.partition("{")[0]
    newest = max((e.message.number for e in window if e.message.kind is Kind.EPISODE), default=0)
    told = any(
        entry.message.number > newest and entry.message.content[0]["text"].startswith(start)
        for entry in window
        if entry.message.kind is Kind.NOTICE
    )
    return bool(newest) and not told
