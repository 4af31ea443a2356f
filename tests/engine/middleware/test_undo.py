"""Undo: the window before an edit comes back, with what came after; nothing is done to it again at once."""

from __future__ import annotations

import json

import pytest

from runs.engine.events import Checked, Version, WindowEdited
from runs.engine.memory import MemoryHistory
from runs.engine.messages import Kind
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.middleware.pins import pin
from runs.engine.middleware.undo import undo
from runs.engine.window.hands import Past, Unfit
from tests.cases.ground import Ground
from tests.cases.refusals import refused

from ..stage import laid, measured, of, said, talk

BY = Asked(by="Ada")


def past(ground: Ground, edit: int) -> Past:
    """What the archive would tell of it."""
    made = [event.edit for event in of(WindowEdited, ground.events) if event.edit.number >= edit]
    history = ground.desk.history
    assert isinstance(history, MemoryHistory)
    versions: tuple[tuple[Version, str], ...] = tuple((one.after, one.kind) for one in made)
    return Past(before=made[0].before, made=versions, messages=tuple(history.messages))


def take_back(ground: Ground, edit: int = 1) -> None:
    ground.take(undo(ground.desk, BY, edit, past(ground, edit)))


def sent(ground: Ground) -> str:
    """What is sent, but for the cache marks: they follow what the llm's server has."""
    body = ground.request()
    assert refused(body) == []
    for message in body["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)
    return json.dumps(body["messages"])


def kinds(ground: Ground) -> list[Kind]:
    return [entry.message.kind for entry in ground.desk.window]


@pytest.mark.parametrize("edit", ["compact", "clear", "clear_results"])
def test_the_window_before_comes_back_byte_for_byte(edit: str) -> None:
    ground = laid(talk(8, size=60), replies=["Short."])
    before = sent(ground)
    if edit == "clear":
        ground.take(clear(ground.desk, BY))
    elif edit == "compact":
        ground.take(ground.technique("compact").compact(Asked(keep=2)))
    else:
        ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    assert sent(ground) != before
    take_back(ground)
    assert sent(ground) == before


def test_what_came_after_stands_behind_it_and_the_edits_own_lines_are_gone() -> None:
    ground = laid(talk(8, size=60), replies=["Short."])
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    said(ground, "and in JSON")
    take_back(ground)
    assert Kind.EPISODE not in kinds(ground)
    assert Kind.NOTICE not in kinds(ground)
    assert sent(ground).endswith('"and in JSON", "type": "text"}], "role": "user"}]')


def test_edits_made_since_then_are_taken_back_with_it() -> None:
    ground = laid(talk(8, size=60), replies=["One.", "Two."])
    before = sent(ground)
    ground.take(ground.technique("clear_results").clear(Asked(keep=4)))
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    take_back(ground, 1)
    assert sent(ground) == before


def test_the_last_of_two_alone_leaves_the_first() -> None:
    ground = laid(talk(8, size=60), replies=["One."])
    ground.take(ground.technique("clear_results").clear(Asked(keep=4)))
    between = sent(ground)
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    take_back(ground, 2)
    assert sent(ground) == between


def test_an_undo_can_be_taken_back() -> None:
    ground = laid(talk(8, size=60), replies=["One."])
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    folded = sent(ground)
    take_back(ground, 1)
    take_back(ground, 2)
    assert sent(ground) == folded


def test_pins_are_those_of_now() -> None:
    ground = laid(talk(8, size=60))
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    ground.take(pin(ground.desk, BY, 4))
    take_back(ground, 1)
    assert [entry.message.number for entry in ground.desk.window if entry.pinned] == [4, 5]


def test_on_a_bound_llm_thinking_of_before_stands_again_and_of_since_then_does_not() -> None:
    ground = laid(talk(6, size=60, thinking=True), replies=["Short."], thinking="bound")
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    assert '"sig' not in sent(ground)
    since = talk(7, size=5, thinking=True)[-2:]
    for message in since:
        ground.append(*_as(message), message["content"])
    take_back(ground)
    again = sent(ground)
    assert all(f'"sig{turn}"' in again for turn in range(1, 7))
    assert '"sig7"' not in again


def _as(message: dict[str, object]) -> tuple[object, ...]:
    from runs.engine.messages import Author, Role

    if message["role"] == "assistant":
        return Role.ASSISTANT, Author.LLM, Kind.ANSWER
    return Role.USER, Author.TOOL, Kind.RESULTS


def test_a_window_over_the_limit_does_not_come_back() -> None:
    ground = laid(talk(12, size=100), replies=["Short."], limit=20_000)
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    ground.desk.limit = 4_000
    folded = sent(ground)
    with pytest.raises(Unfit, match="more than its limit of 4,000"):
        take_back(ground)
    assert sent(ground) == folded


def test_the_mark_does_not_do_at_once_what_a_person_took_back() -> None:
    ground = laid(talk(14, size=104), replies=["Short."], limit=30_000, compact={"min_new_turns": 3})
    measured(ground)
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    take_back(ground)
    for since in (1, 2, 3):
        ground.desk.turn += 1
        seen = len(ground.events)
        for name in ("clear_results", "compact"):
            ground.take(ground.technique(name).before_call(ground.desk.window))
        told = [event for event in ground.events[seen:] if isinstance(event, Checked)]
        waits = [event.verdict for event in told if "took the last edit back" in event.why]
        assert waits == (["not fired"] * 2 if since < 3 else [])


def test_the_episode_that_stands_is_the_one_that_stood_then() -> None:
    ground = laid(talk(8, size=60), replies=["One."])
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    assert ground.desk.record.episode is not None
    take_back(ground)
    assert ground.desk.record.episode is None
