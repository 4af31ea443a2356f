"""Pins: what a person holds stands in every window, a call never without its results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.engine.events import Form, Note, Trigger, WindowEdited
from runs.engine.messages import Kind
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.middleware.pins import drop, pin, unpin
from runs.engine.window.hands import Unfit
from tests.cases.ground import Ground
from tests.cases.refusals import refused

from ..stage import add, laid, lines, of, said, talk, use

BY = Asked(order=7, by="Ada")
CALL, RESULT = 4, 5
"""The second turn of a talk: its answer, and the results of its call."""


def pins(ground: Ground) -> list[int]:
    return [entry.message.number for entry in ground.desk.window if entry.pinned]


def valid(ground: Ground) -> str:
    body = ground.request()
    assert refused(body) == []
    for message in body["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)
    return json.dumps(body["messages"])


@pytest.mark.parametrize("number", [CALL, RESULT])
def test_a_call_and_its_results_are_pinned_and_released_together(number: int) -> None:
    ground = laid(talk(5))
    ground.take(pin(ground.desk, BY, number))
    assert pins(ground) == [CALL, RESULT]
    ground.take(unpin(ground.desk, BY, number))
    assert pins(ground) == []
    kinds = [event.edit.kind for event in of(WindowEdited, ground.events)]
    assert kinds == ["pin", "unpin"]


def test_an_edit_of_a_person_says_whose_it_was() -> None:
    ground = laid(talk(5))
    ground.take(pin(ground.desk, BY, RESULT))
    edit = of(WindowEdited, ground.events)[0].edit
    assert (edit.trigger, edit.by, edit.order) == (Trigger.PERSON, "Ada", 7)
    assert edit.tokens_after == edit.tokens_before


@pytest.mark.parametrize("edit", ["compact", "clear", "both"])
def test_a_pin_survives_every_edit_word_for_word(edit: str) -> None:
    ground = laid(talk(8, size=60), replies=["Short."])
    ground.take(pin(ground.desk, BY, RESULT))
    if edit == "clear":
        ground.take(clear(ground.desk, BY))
    else:
        method = "both" if edit == "both" else "summary"
        ground.take(ground.technique("compact").compact(Asked(keep=2, method=method)))
    assert lines("c2_0", 60).splitlines()[-1] in valid(ground)
    assert pins(ground) == [CALL, RESULT]


def test_what_was_cleared_stands_in_full_again() -> None:
    ground = laid(talk(8, size=60))
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    ground.take(pin(ground.desk, BY, CALL))
    forms = {entry.message.number: entry.form for entry in ground.desk.window}
    assert (forms[RESULT], forms[RESULT + 2]) == (Form.FULL, Form.CLEARED)
    ground.take(ground.technique("clear_results").clear(Asked(keep=0)))
    assert lines("c2_0", 60).splitlines()[-1] in valid(ground)


def test_on_a_bound_llm_a_pin_that_changes_nothing_costs_no_thinking() -> None:
    ground = laid(talk(4, thinking=True), thinking="bound")
    before = valid(ground)
    ground.take(pin(ground.desk, BY, CALL))
    assert valid(ground) == before


def test_on_a_bound_llm_what_looks_different_takes_the_thinking_behind_it() -> None:
    ground = laid(talk(4, thinking=True), thinking="bound")
    ground.take(drop(ground.desk, BY, CALL))
    sent = valid(ground)
    assert '"sig1"' in sent
    assert not any(f'"sig{turn}"' in sent for turn in (2, 3, 4))


def test_a_large_result_that_is_pinned_is_not_offloaded() -> None:
    ground = laid(talk(2, size=600), limit=40_000, offload={"result_tokens": 500})
    ground.take(pin(ground.desk, BY, CALL))
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    assert lines("c2_0", 600).splitlines()[-1] in valid(ground)


@pytest.mark.parametrize("number", [CALL, RESULT])
def test_what_is_dropped_leaves_with_what_belongs_to_it_and_stays_in_the_archive(number: int) -> None:
    ground = laid(talk(4))
    ground.take(drop(ground.desk, BY, number))
    assert [entry.message.number for entry in ground.desk.window] == [1, 2, 3, 6, 7, 8, 9]
    assert "c2_0" not in valid(ground)
    assert ground.desk.history.message(RESULT).content


def test_a_drop_of_the_whole_tail_leaves_a_window_that_can_be_sent() -> None:
    ground = laid(talk(2))
    ground.take(drop(ground.desk, BY, CALL))
    ground.take(drop(ground.desk, BY, 2))
    valid(ground)


REFUSED: dict[str, tuple[Any, int, str]] = {
    "the goal needs no pin": (pin, 1, "stands in every window"),
    "the goal stays": (drop, 1, "cannot be dropped"),
    "a person's words stay": (drop, 10, "cannot be dropped"),
    "what is not there": (pin, 99, "does not stand in the window"),
    "what is not pinned": (unpin, CALL, "is not pinned"),
    "what is pinned": (drop, 6, "take the pin out first"),
    "twice": (pin, 7, "pinned already"),
    "an open call": (pin, 11, "still to come"),
    "dropping an open call": (drop, 11, "still to come"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_with_the_reason(what: str) -> None:
    ground = laid(talk(4))
    said(ground, "and in JSON")
    ground.take(pin(ground.desk, BY, 6))
    call = add(ground, *_answer(), [use("open")])
    assert call.number == 11
    verb, number, reason = REFUSED[what]
    before, seen = ground.desk.window.entries, len(ground.events)
    with pytest.raises(Unfit, match=reason):
        ground.take(verb(ground.desk, BY, number))
    assert (ground.desk.window.entries, len(ground.events)) == (before, seen)


def _answer() -> tuple[Any, Any, Any]:
    from runs.engine.messages import Author, Role

    return Role.ASSISTANT, Author.LLM, Kind.ANSWER


def test_a_pin_that_does_not_fit_into_the_limit_is_refused() -> None:
    ground = laid(talk(6, size=300), limit=12_000)
    ground.take(ground.technique("clear_results").clear(Asked(keep=0)))
    ground.take(pin(ground.desk, BY, CALL))
    ground.take(pin(ground.desk, BY, 6))
    with pytest.raises(Unfit, match="more than its limit of 12,000"):
        ground.take(pin(ground.desk, BY, 8))


def test_the_products_own_lines_cannot_be_pinned_and_may_be_dropped() -> None:
    ground = laid(talk(6, size=60))
    given = {"section": "facts", "state": "open", "author": "llm", "by": "", "turn": 1}
    ground.desk.notes = {1: Note(number=1, revision=1, text="brass", **given)}  # type: ignore[arg-type]
    ground.take(clear(ground.desk, BY))
    notes = next(e.message.number for e in ground.desk.window if e.message.kind is Kind.NOTES)
    with pytest.raises(Unfit, match="written anew"):
        ground.take(pin(ground.desk, BY, notes))
    ground.take(drop(ground.desk, BY, notes))
    assert "brass" not in valid(ground)
