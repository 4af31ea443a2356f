"""After any edit the cache still gives what stands before the first changed token, but for one answer at most."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from bench.meter import Books
from runs.engine.llm.rehearsal import count
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.middleware.base import Asked
from runs.engine.window.render import MARK, Renderer, frame_of
from tests.cases.ground import Ground

from ..stage import add, gave, laid, lines, talk, use

ROOM = 400_000
CALL = 40
"""Tokens of a call, and of the words before it."""


def long_told(calls: int = 1, turns: int = 4, replies: Sequence[str] = ()) -> Ground:
    """A system prompt that is long enough for the cache, and a window with much room."""
    ground = laid(talk(turns, size=60, calls=calls), limit=ROOM, replies=replies)
    desk, params = ground.desk, ground.desk.frame.params["request"]
    system = "You are at work. " * 500
    desk.frame = frame_of(llm="canned", system=system, tools=[], params=params, shape=desk.shape)
    return ground


class Payer:
    """Sends requests to the rehearsal's cache; `send` tells what was paid anew although the last request held it."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.books = Books()

    def send(self) -> int:
        desk, before = self.ground.desk, self.books.rewritten
        rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), desk.turn)
        body = json.loads(rendered.request.body)
        self.books.account(body, count.elements(body))
        return self.books.rewritten - before

    def turns(self, first: int, last: int, calls: int = 1) -> None:
        for turn in range(first, last):
            ids = [f"n{turn}_{at}" for at in range(calls)]
            add(self.ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look."), *map(use, ids)])
            add(self.ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(one, lines(one, 60)) for one in ids])
            assert self.send() == 0, "appending reads everything"


@pytest.mark.parametrize("calls", [1, 12, 30])
def test_a_clearing_reads_up_to_where_the_one_before_it_ended(calls: int) -> None:
    payer = Payer(long_told(calls))
    payer.send()
    for batch in range(4):
        payer.turns(20 * batch, 20 * batch + 12, calls)
        ground = payer.ground
        ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
        assert payer.send() <= CALL * calls


def test_the_head_that_a_compaction_wrote_is_read_after_the_next_clearing() -> None:
    ground = long_told(turns=30, replies=["Told at length. " * 400])
    payer = Payer(ground)
    payer.send()
    ground.take(ground.technique("compact").compact(Asked(keep=4)))
    payer.send()
    payer.turns(0, 12)
    ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
    assert payer.send() <= CALL


def test_who_takes_the_run_up_sets_the_same_marks() -> None:
    ground = long_told(turns=20)
    payer = Payer(ground)
    payer.turns(0, 3)
    ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
    desk = ground.desk
    bodies = {
        renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 7).request.body
        for renderer in (desk.renderer, Renderer(desk.slug))
    }
    assert len(bodies) == 1


def test_a_window_that_an_old_renderer_sent_is_sent_with_its_marks() -> None:
    ground = long_told(turns=20)
    ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
    desk = ground.desk
    object.__setattr__(desk.frame, "render", 1)
    body = json.loads(
        desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 7).request.body
    )
    marks = [
        at
        for at, line in enumerate(body["messages"])
        for block in line["content"]
        if block.get("cache_control") == MARK
    ]
    assert marks == [len(body["messages"]) - 3, len(body["messages"]) - 1]
