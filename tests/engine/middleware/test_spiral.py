"""Spiral: compact, read the same again, compact. Seen, told, met by a longer tail, and at last held."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.errors import Spiralling
from runs.engine.events import NoticeGiven, SpiralSeen
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.middleware.base import Asked
from runs.engine.middleware.spiral import circles, keep_rule
from runs.engine.middleware.spiral import seen as seen_spiral
from tests.cases.ground import Ground

from ..stage import GOAL, add, gave, laid, lines, of, use, user

FILES = ("a.py", "b.py", "c.py", "d.py")


def start(**valves: int) -> Ground:
    return laid([user(GOAL)], limit=20_000, replies=["Short."], valves=valves)


def read(ground: Ground, *paths: str, tool: str = "read_file") -> None:
    """A turn a path: it is asked for, and what it holds comes back."""
    for path in paths:
        ground.desk.turn += 1
        call = use(f"c{ground.desk.numbers.message}", tool, path=path)
        add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look."), call])
        add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(call["id"], lines(path, 30))])


def compacted(ground: Ground) -> int:
    """Everything is folded; how many circles in a row that makes."""
    ground.take(ground.technique("compact").compact(Asked(keep=0)))
    return circles(ground.desk)


def told(ground: Ground) -> list[Any]:
    seen = len(ground.events)
    ground.take(seen_spiral(ground.desk))
    return ground.events[seen:]


def round_(ground: Ground) -> int:
    read(ground, *FILES)
    return compacted(ground)


def test_the_same_read_again_after_each_compaction_is_counted() -> None:
    ground = start()
    assert [round_(ground) for _ in range(4)] == [0, 1, 2, 3]
    assert ground.desk.record.episode is not None
    assert ground.desk.record.episode.scores["read again"] == 1.0


WORK = {
    "other files": [("e.py", "f.py", "g.py", "h.py")],
    "mostly other files": [("a.py", "f.py", "g.py", "h.py")],
    "fewer than three": [("a.py", "b.py")],
    "nothing": [()],
}


@pytest.mark.parametrize("what", WORK)
def test_work_that_moves_on_is_no_circle(what: str) -> None:
    ground = start()
    round_(ground)
    round_(ground)
    for paths in WORK[what]:
        read(ground, *paths)
        read(ground, "log", tool="run_command")
    assert compacted(ground) == 0


def test_a_file_that_was_written_since_may_be_read_again() -> None:
    ground = start()
    round_(ground)
    read(ground, *FILES, tool="edit_file")
    read(ground, *FILES)
    assert compacted(ground) == 0


def test_another_page_of_the_same_file_is_another_read() -> None:
    ground = start()
    for page in range(3):
        for at in range(4):
            ground.desk.turn += 1
            call = use(f"p{page}_{at}", path="big.txt", offset=100 * (4 * page + at))
            add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("On."), call])
            add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(call["id"], lines("big", 30))])
        assert compacted(ground) == 0


def test_the_agent_is_told_once_for_each_episode() -> None:
    ground = start()
    assert [round_(ground) for _ in range(2)] == [0, 1]
    assert told(ground) == []
    round_(ground)
    seen, notice = told(ground)
    assert isinstance(seen, SpiralSeen)
    assert seen.times == 2
    assert isinstance(notice, NoticeGiven)
    assert "take_note" in notice.message.content[0]["text"]
    assert told(ground) == []
    assert ground.desk.window.entries[-1].message == notice.message


def test_more_of_the_tail_stays_while_it_goes_in_circles() -> None:
    ground = start()
    before = keep_rule(ground.desk)
    for _ in range(3):
        round_(ground)
    after = keep_rule(ground.desk)
    assert (after.tokens, after.messages, after.cap) == (
        2 * before.tokens,
        2 * before.messages,
        2 * before.cap,
    )
    read(ground, "x.py", "y.py", "z.py")
    compacted(ground)
    assert keep_rule(ground.desk) == before


def test_at_last_the_run_is_paused_with_the_reason_and_may_go_on() -> None:
    ground = start(spiral_nudge=1, spiral_pause=2)
    round_(ground)
    round_(ground)
    told(ground)
    round_(ground)
    with pytest.raises(Spiralling, match="last 2 compactions .*100 % of what it read"):
        told(ground)
    assert len(of(SpiralSeen, ground.events)) == 2
    assert told(ground) == []


def test_zero_means_never() -> None:
    ground = start(spiral_nudge=0, spiral_pause=0)
    for _ in range(6):
        round_(ground)
        assert told(ground) == []
    assert keep_rule(ground.desk).messages == ground.desk.policy.compact.keep_messages
