"""Faults are asked for by name, at a turn, so many times."""

from __future__ import annotations

import pytest

from runs.engine.llm.rehearsal.faults import _SPOILERS
from runs.engine.llm.rehearsal.personality import (
    ANSWER,
    STREAM,
    SUMMARY,
    WIRE,
    Fault,
    Personality,
    Tries,
    acting,
    parse,
)
from runs.engine.llm.rehearsal.rewrite import _REWRITERS
from runs.engine.llm.rehearsal.wire import Invalid, Place


def at(turn: int, *, summary: bool = False) -> Place:
    return Place(slug="r-1", turn=turn, summary=summary)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("rehearsal", Personality(script="")),
        ("rehearsal/hello", Personality(script="hello")),
        ("rehearsal+429", Personality(script="", faults=(Fault(name="429"),))),
        ("hello+reset:120", Personality(script="hello", faults=(Fault(name="reset", number=120),))),
        (
            "hello+529:2@3",
            Personality(script="hello", faults=(Fault(name="529", number=2, first=3, last=3),)),
        ),
        ("hello+end@4-6", Personality(script="hello", faults=(Fault(name="end", first=4, last=6),))),
        ("hello+end@4-", Personality(script="hello", faults=(Fault(name="end", first=4),))),
    ],
)
def test_names_are_read(name: str, wanted: Personality) -> None:
    assert parse(name) == wanted


def test_an_unknown_fault_is_refused_beside_the_known_ones() -> None:
    with pytest.raises(Invalid, match="no fault 'oops'. Known: 400, "):
        parse("hello+oops")


def test_a_fault_acts_on_the_first_tries_of_its_turns() -> None:
    tries, given = Tries(), parse("hello+529:2@3")
    acts = [bool(acting(given, at(turn), tries)) for turn in (2, 3, 3, 3, 4)]
    assert acts == [False, True, True, False, False]


def test_faults_of_summaries_act_on_summaries_and_always() -> None:
    tries, given = Tries(), parse("hello+summary_empty")
    assert not acting(given, at(3), tries)
    assert all(acting(given, at(turn, summary=True), tries) for turn in (3, 3, 9))


def test_so_many_summaries_of_a_run_go_wrong() -> None:
    tries, given = Tries(), parse("hello+summary_empty:2")
    assert [bool(acting(given, at(turn, summary=True), tries)) for turn in (3, 9, 20)] == [True, True, False]


def test_every_fault_of_an_answer_does_something() -> None:
    wire = {"summary_400", "summary_529", "summary_reset"}
    assert set(_SPOILERS) == (ANSWER | SUMMARY) - wire
    assert STREAM.isdisjoint(ANSWER)
    assert set(_REWRITERS) == WIRE


def test_a_call_is_cut_at_the_byte_that_is_asked_for_on_every_try() -> None:
    tries, given = Tries(), parse("hello+cut_call:7@2")
    faults = [acting(given, at(turn), tries) for turn in (1, 2, 2)]
    assert [fault.number if fault else None for fault in faults] == [None, 7, 7]
