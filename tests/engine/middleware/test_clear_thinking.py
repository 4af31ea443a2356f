"""Clear thinking: finished turns of a person lose it whole, an open tool loop never."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.engine.events import Checked, WindowEdited
from runs.engine.messages import canonical
from runs.engine.middleware.base import Asked
from tests.cases.ground import Ground
from tests.cases.structure import problems

from ..stage import bot, gave, laid, lines, of, thought, use, user

Q1, A1 = user("first question"), bot(thought("long and private", "sig1"), "answer 1")
Q2, LOOP = user("second question"), bot(thought("look", "sig2"), use("t1"))
RESULT = user(gave("t1", "x"))
A2 = bot(thought("now", "sig3"), "answer 2")
REDACTED = {"type": "redacted_thinking", "data": "cmVk"}


def clear(spoken: list[dict[str, Any]], keep: int, thinking: str = "adaptive") -> Ground:
    ground = laid(spoken, thinking=thinking)
    ground.take(ground.technique("clear_thinking").clear(Asked(keep=keep)))
    return ground


def thoughts(ground: Ground) -> list[str]:
    """The signatures that are sent."""
    messages = ground.request()["messages"]
    assert problems(messages) == []
    return [block["signature"] for m in messages for block in m["content"] if block["type"] == "thinking"]


KEPT = {
    ("adaptive", 0): ["sig2"],
    ("adaptive", 1): ["sig2"],
    ("adaptive", 2): ["sig1", "sig2"],
    ("manual", 0): ["sig2"],
    ("none", 1): ["sig2"],
    ("bound", 0): ["sig1", "sig2"],
    ("bound", 1): ["sig1", "sig2"],
}


@pytest.mark.parametrize(("thinking", "keep"), KEPT)
def test_an_open_tool_loop_keeps_its_thinking_whatever_the_llm(thinking: str, keep: int) -> None:
    assert thoughts(clear([Q1, A1, Q2, LOOP, RESULT], keep, thinking)) == KEPT[thinking, keep]


FINISHED = {
    ("adaptive", 0): [],
    ("adaptive", 1): ["sig2", "sig3"],
    ("manual", 1): ["sig2", "sig3"],
    ("bound", 0): [],
    ("bound", 1): [],
    ("bound", 2): ["sig1", "sig2", "sig3"],
}


@pytest.mark.parametrize(("thinking", "keep"), FINISHED)
def test_behind_the_first_that_leaves_a_bound_llm_keeps_none(thinking: str, keep: int) -> None:
    spoken = [Q1, A1, Q2, LOOP, RESULT, A2]
    assert thoughts(clear([*spoken, user("third")], keep, thinking)) == FINISHED[thinking, keep]


def test_a_turn_whose_answer_is_still_to_come_does_not_count() -> None:
    assert thoughts(clear([Q1, A1, Q2], 1)) == ["sig1"]


def test_the_whole_block_leaves_and_the_answer_stays_as_it_was() -> None:
    ground = clear([Q1, bot(thought("a", "sig1"), REDACTED, "answer 1"), Q2, LOOP, RESULT], 1)
    sent = ground.request()["messages"]
    assert [block["type"] for block in sent[1]["content"]] == ["text"]
    assert canonical(sent[3]["content"]) == canonical(LOOP["content"])
    assert "private" not in json.dumps(sent)


def test_nothing_to_clear_changes_nothing() -> None:
    ground = clear([Q1, bot("answer 1"), Q2], 0)
    assert ground.events == []


def test_thinking_is_cleared_once() -> None:
    ground = clear([Q1, A1, Q2, LOOP, RESULT], 1)
    ground.take(ground.technique("clear_thinking").clear(Asked(keep=1)))
    assert len(of(WindowEdited, ground.events)) == 1


def fired(words: int, **policy: float) -> list[Any]:
    ground = laid(
        [Q1, bot(thought(lines("think", words), "sig1"), "answer 1"), Q2, LOOP, user(gave("t1", lines("r", 600)))],
        limit=20_000, thinking="adaptive", clear_thinking=policy,
    )  # fmt: skip
    ground.take(ground.technique("clear_thinking").before_call(ground.desk.window))
    return [event for event in ground.events if isinstance(event, Checked | WindowEdited)]


def test_at_the_mark_it_acts_and_says_why() -> None:
    checked, edited = fired(600)
    assert (checked.verdict, edited.edit.kind) == ("fired", "clear_thinking")
    assert edited.edit.tokens_after < edited.edit.tokens_before


def test_what_would_free_little_is_left_alone() -> None:
    (checked,) = fired(10, at=0.3)
    assert checked.verdict == "not fired"
    assert "less than" in checked.why


def test_below_the_mark_it_does_nothing() -> None:
    (checked,) = fired(10)
    assert checked.why.endswith("< 60 %")
