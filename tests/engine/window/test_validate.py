"""The strict validator finds what the API would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.messages import Role
from runs.engine.window.lines import Line
from runs.engine.window.validate import problems

from ..stage import bot, gave, thought, use, user


def found(*spoken: dict[str, Any]) -> str:
    lines = [Line(role=Role(message["role"]), blocks=tuple(message["content"])) for message in spoken]
    return "; ".join(problems(lines))


def test_a_good_list_has_no_problems() -> None:
    assert (
        found(
            user("go"),
            bot(thought(), "I look", use("a"), use("b")),
            user(gave("a", "1"), gave("b", "2"), "x"),
        )
        == ""
    )


@pytest.mark.parametrize(
    ("spoken", "says"),
    [
        ([], "at least one message"),
        ([bot("hi"), user("go")], "first message must be the user's"),
        ([user("go"), bot("hi")], "last message must be the user's"),
        ([user("go"), user("go")], "two neighbours"),
        ([user("go"), bot(use("a")), user("x")], "do not answer"),
        ([user("go"), bot(use("a"))], "last message must be the user's"),
        ([user("go"), bot(use("a"), use("b")), user(gave("b", "2"), gave("a", "1"))], "in their order"),
        ([user("go"), bot(use("a")), user(gave("a", "1"), gave("a", "1"))], "do not answer"),
        ([user("go"), bot("hi"), user(gave("a", "1"))], "do not answer"),
        ([user("go"), bot(use("a")), user("first", gave("a", "1"))], "results must come first"),
        (
            [user("go"), bot(use("a")), user(gave("a", "1")), bot(use("a")), user(gave("a", "1"))],
            "used twice",
        ),
        ([user("go", " ")], "blank text"),
        ([user("go"), bot(use("a")), user(gave("a", [{"type": "text", "text": ""}]))], "blank text"),
        ([user()], "empty"),
        ([user("go"), bot(thought("hm", ""), "hi"), user("x")], "without a signature"),
        ([user("go"), bot("hi", thought()), user("x")], "cannot be thinking"),
        ([user("go"), bot(use("a")), bot("hi"), user("x")], "not answered"),
        ([user("go"), bot(use("a.b")), user(gave("a.b", "1"))], "without a proper id"),
        ([user("go"), bot(use("a", "my tool")), user(gave("a", "1"))], "without a proper id, name"),
        ([user("go"), bot({**use("a"), "input": "x"}), user(gave("a", "1"))], "name or input"),
        ([user("go"), bot(use("a")), user(gave("a", "", error=True))], "an error without text"),
        ([user("go", thought()), bot("hi"), user("x")], "thinking in a message of the user"),
        ([user("go"), bot("hi", gave("a", "1")), user("x")], "tool_result in a message of the assistant"),
    ],
)
def test_each_rule_has_its_sentence(spoken: list[dict[str, Any]], says: str) -> None:
    assert says in found(*spoken)
