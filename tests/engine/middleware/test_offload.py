"""Offload: what is too large goes to a file before it is ever sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runs.engine.events import Form, Note, WindowEdited
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.window.gauge import Measured
from runs.engine.window.render import frame_of
from tests.cases.ground import Ground

from ..stage import add, answer, bot, gave, laid, lines, measured, of, play, said, talk, use, user


def results(ground: Ground, *sizes: int, path: str = "big.log") -> None:
    """One more turn whose results have so many lines each."""
    number = ground.desk.numbers.message
    ids = [f"o{number}_{at}" for at in range(len(sizes))]
    calls = [use(call, path=path) for call in ids]
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look"), *calls])
    given = [gave(call, lines(call, size)) for call, size in zip(ids, sizes, strict=True)]
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, given)


def after_turn(ground: Ground) -> list[WindowEdited]:
    seen = len(ground.events)
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    return of(WindowEdited, ground.events[seen:])


def last_form(ground: Ground) -> Form:
    return ground.desk.window.entries[-1].form


def test_a_result_over_the_mark_becomes_a_preview_and_the_whole_lies_in_a_file() -> None:
    ground = laid(talk(2))
    results(ground, 400)
    (event,) = after_turn(ground)
    assert (event.edit.kind, last_form(ground)) == ("offload", Form.PREVIEW)
    assert event.edit.tokens_after < event.edit.tokens_before
    (name,) = ground.desk.files.names()
    assert ground.desk.files.read(name) == ground.desk.window.entries[-1].message.content[0]["content"]
    assert f"@run/{name}" in json.dumps(ground.request())


def test_a_result_below_the_mark_stays_and_nothing_is_edited() -> None:
    ground = laid(talk(2))
    results(ground, 200)
    assert after_turn(ground) == []


def test_the_results_of_a_turn_are_weighed_together() -> None:
    """Trap 3: twelve parallel reads, none of them too large."""
    ground = laid(talk(2))
    results(ground, *([100] * 12))
    (event,) = after_turn(ground)
    assert event.edit.tokens_after < event.edit.tokens_before - 6_000
    full = [
        block for block in ground.request()["messages"][-1]["content"] if "@run/" not in json.dumps(block)
    ]
    assert 1 <= len(full) <= 3


def test_a_page_of_an_offloaded_file_is_left_alone() -> None:
    ground = laid(talk(2))
    results(ground, 400, path="@run/results/m3-0-abc.txt")
    assert after_turn(ground) == []


def test_it_looks_at_what_was_not_sent_yet_and_at_nothing_else() -> None:
    ground = laid(talk(1))
    results(ground, 400)
    results(ground, 5)
    assert after_turn(ground) == []


def test_what_usage_told_of_the_part_before_stays_true() -> None:
    ground = laid(talk(3))
    measured(ground, 4_321)
    results(ground, 400)
    after_turn(ground)
    assert ground.desk.gauge.last == Measured(version=2, upto=7, prompt=4_321)


@pytest.mark.parametrize("before_the_first_turn", [True, False])
def test_a_long_message_of_a_person_is_offloaded_by_its_own_mark(before_the_first_turn: bool) -> None:
    ground = laid(talk(0 if before_the_first_turn else 2))
    said(ground, lines("rule", 400))
    assert after_turn(ground) == []
    said(ground, lines("rule", 800))
    ground.take(ground.technique("offload").before_call(ground.desk.window))
    assert last_form(ground) is Form.PREVIEW
    assert "a message" in of(WindowEdited, ground.events)[-1].edit.reason


def test_errors_and_lists_are_offloaded_like_the_rest() -> None:
    ground = laid([user("go"), bot(use("a")), user(gave("a", [text(lines("x", 400))], error=True))])
    after_turn(ground)
    (block,) = ground.request()["messages"][-1]["content"]
    assert block["is_error"]
    assert "@run/" in block["content"]


def test_an_offload_that_would_save_nothing_is_not_made() -> None:
    ground = laid([user("go"), bot(use("a")), user(gave("a", "x " * 30))])
    desk = ground.desk
    shape = replace(desk.shape, result_tokens=5)
    desk.frame = frame_of(llm="canned", system="s", tools=[], params={"max_tokens": 9}, shape=shape)
    assert after_turn(ground) == []


def test_in_a_run_the_llm_never_sees_the_whole() -> None:
    stage = play(answer(use("a", "read_notes", section="facts")), answer("Done."))
    given = {"section": "facts", "state": "open", "author": "llm", "by": "", "turn": 0}
    for at in range(1, 9):
        note = Note(number=at, revision=1, text=lines(f"n{at}", 50), **given)  # type: ignore[arg-type]
        stage.agent.desk.notes[at] = note
    stage.turn()
    stage.turn()
    assert "n4 line 25" not in json.dumps(stage.bodies()[-1])
    assert "@run/results/m3-0-" in json.dumps(stage.bodies()[-1])
