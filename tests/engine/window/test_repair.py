"""From entries to a list that may be sent: each trouble is put right, the same way every time, and named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from runs.engine.messages import Role
from runs.engine.window.lines import Line
from runs.engine.window.repair import mend
from runs.engine.window.tidy import EMPTY, Mended
from runs.engine.window.validate import problems
from tests.cases.structure import problems as foreign_problems

from ..histories import PICTURE
from ..stage import bot, gave, thought, use, user

SERVER = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def mended(*spoken: dict[str, Any], pictures: int = 100) -> Mended:
    lines = [Line(role=Role(message["role"]), blocks=tuple(message["content"])) for message in spoken]
    first = mend(lines, max_pictures=pictures)
    second = mend(lines, max_pictures=pictures)
    assert first.lines == second.lines, "repaired the same way every time"
    assert problems(first.lines) == []
    assert (
        foreign_problems([{"role": line.role.value, "content": list(line.blocks)} for line in first.lines])
        == []
    )
    return first


def types(done: Mended) -> list[list[str]]:
    return [[block["type"] for block in line.blocks] for line in done.lines]


def test_a_good_list_goes_as_it_is_and_nothing_is_reported() -> None:
    spoken = [user("go"), bot(thought(), "I look", use("a")), user(gave("a", "ok"))]
    done = mended(*spoken)
    assert [list(line.blocks) for line in done.lines] == [message["content"] for message in spoken]
    assert done.repairs == []


def test_neighbours_of_one_role_become_one_message_results_first() -> None:
    done = mended(user("go"), bot(use("a")), user("hurry"), user(gave("a", "ok")))
    assert types(done) == [["text"], ["tool_use"], ["tool_result", "text"]]


def test_a_list_ends_with_the_persons_side() -> None:
    assert mended(user("go"), bot("done")).lines[-1].blocks[0]["text"] == "Continue."


def test_a_list_that_begins_with_the_assistant_gets_a_beginning() -> None:
    done = mended(bot("hello"), user("go"))
    assert done.lines[0].role is Role.USER
    assert done.repairs


def test_a_call_without_a_result_is_answered_as_unknown_before_any_text() -> None:
    done = mended(user("go"), bot(use("a"), use("b")), user(gave("a", "ok"), "and?"))
    assert [block.get("tool_use_id") for block in done.lines[-1].blocks] == ["a", "b", None]
    assert done.lines[-1].blocks[1]["is_error"]
    assert "unknown" in done.lines[-1].blocks[1]["content"]
    assert "b" in done.repairs[0]


def test_a_call_at_the_very_end_is_answered() -> None:
    assert types(mended(user("go"), bot(use("a")))) == [["text"], ["tool_use"], ["tool_result"]]


def test_a_result_without_its_call_is_left_out_and_the_persons_words_stay() -> None:
    done = mended(user("go"), bot("hm"), user(gave("ghost", "boo"), "never touch prod.cfg"))
    assert done.lines[-1].blocks == ({"type": "text", "text": "never touch prod.cfg"},)
    assert "ghost" in done.repairs[0]


def test_results_come_in_the_order_of_the_calls_and_once() -> None:
    done = mended(
        user("go"), bot(use("a"), use("b")), user(gave("b", "2"), gave("a", "1"), gave("a", "again"))
    )
    assert [block["content"] for block in done.lines[-1].blocks] == ["1", "2"]


def test_an_id_used_again_is_sent_as_a_fresh_one_with_its_result() -> None:
    done = mended(
        user("go"),
        bot(use("t")),
        user(gave("t", "first")),
        bot(use("t"), use("t")),
        user(gave("t", "2"), gave("t", "3")),
    )
    ids = [block["id"] for line in done.lines for block in line.blocks if block["type"] == "tool_use"]
    assert ids == ["t", "t_2", "t_3"]
    assert [block["content"] for block in done.lines[-1].blocks] == ["2", "3"]


def test_an_empty_id_is_given_one() -> None:
    done = mended(user("go"), bot(use("")), user(gave("", "ok")))
    assert done.lines[1].blocks[0]["id"]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_text_is_never_sent_and_a_message_of_it_says_so(blank: str) -> None:
    done = mended(user("go"), bot(blank), user("again"))
    assert done.lines[1].blocks == ({"type": "text", "text": EMPTY},)
    assert types(mended(user("go", blank), bot(blank, "hm"), user("x"))) == [["text"], ["text"], ["text"]]


def test_blank_text_inside_a_result_goes_too() -> None:
    blank = {"type": "text", "text": " "}
    done = mended(user("go"), bot(use("a"), use("b")), user(gave("a", [blank]), gave("b", [blank, PICTURE])))
    first, second = done.lines[-1].blocks
    assert first["content"] == EMPTY
    assert second["content"] == [PICTURE]


def test_foreign_cache_marks_are_taken_off() -> None:
    marked = {"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}
    assert "cache_control" not in mended(user(marked)).lines[0].blocks[0]


def test_thinking_without_a_signature_is_not_sent_and_signed_thinking_without_text_is() -> None:
    done = mended(user("go"), bot(thought("", ""), thought("", "sig"), "hm"), user("x"))
    assert done.lines[1].blocks == (thought("", "sig"), {"type": "text", "text": "hm"})


def test_an_answer_never_ends_with_thinking() -> None:
    redacted = {"type": "redacted_thinking", "data": "x"}
    done = mended(user("go"), bot("hm", thought(), redacted), user("x"))
    assert types(done)[1] == ["text"]
    assert mended(user("go"), bot(thought()), user("x")).lines[1].blocks[0]["text"] == EMPTY


def test_half_a_server_tools_pair_is_left_out_whole_pairs_stay() -> None:
    assert types(mended(user("go"), bot(SERVER, FOUND, "hm"), user("x")))[1] == [
        SERVER["type"],
        FOUND["type"],
        "text",
    ]
    assert types(mended(user("go"), bot(SERVER, "hm"), user("x")))[1] == ["text"]
    assert types(mended(user("go"), bot(FOUND, "hm"), user("x")))[1] == ["text"]


MCP = {"type": "mcp_tool_use", "id": "m1", "name": "look", "server_name": "s", "input": {}}
MCP_FOUND = {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": []}


@pytest.mark.parametrize("half", [(FOUND, SERVER), (SERVER, SERVER), (FOUND, FOUND), (MCP,), (MCP_FOUND,)])
def test_a_pair_in_the_wrong_order_twice_or_of_another_kind_is_half_a_pair_too(half: Sequence[Any]) -> None:
    done = mended(user("go"), bot(*half, "hm"), user("x"))
    assert types(done)[1] == ["text"]
    assert done.repairs


def test_of_a_call_that_stands_twice_the_answered_one_stays() -> None:
    assert types(mended(user("go"), bot(SERVER, SERVER, FOUND, "hm"), user("x")))[1] == [
        SERVER["type"],
        FOUND["type"],
        "text",
    ]


@pytest.mark.parametrize("given", ["functions.read:0", "call|1 é", "a/b", "", "\u202e"])
def test_an_id_that_the_api_refuses_is_sent_as_one_it_takes_with_its_result(given: str) -> None:
    done = mended(
        user("go"), bot(use("a_b"), use(given), use("x")), user(gave(given, "it"), gave("a_b", "1"))
    )
    sent = done.lines[1].calls
    assert len(set(sent)) == 3
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", call) for call in sent)
    assert [block["content"] for block in done.lines[2].blocks[:2]] == ["1", "it"]


def test_ids_that_become_equal_stay_apart() -> None:
    done = mended(user("go"), bot(use("t.1"), use("t_1")), user(gave("t_1", "second"), gave("t.1", "first")))
    assert [block["content"] for block in done.lines[2].blocks] == ["first", "second"]


@pytest.mark.parametrize("name", ["my tool/é", "", "x" * 300])
def test_a_tools_name_that_the_api_refuses_is_sent_as_one_it_takes(name: str) -> None:
    done = mended(user("go"), bot(use("a", name)), user(gave("a", "ok")))
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", done.lines[1].blocks[0]["name"])
    assert done.repairs


@pytest.mark.parametrize("given", ["{", [1], None, 3])
def test_an_input_that_is_no_object_is_sent_as_one(given: object) -> None:
    done = mended(user("go"), bot({**use("a"), "input": given}), user(gave("a", "ok")))
    assert done.lines[1].blocks[0]["input"] == {"unreadable_input": given}


@pytest.mark.parametrize("content", ["", [], " \n", None, [{"type": "text", "text": ""}]])
def test_an_error_says_something(content: object) -> None:
    done = mended(user("go"), bot(use("a")), user(gave("a", content, error=True)))
    assert done.lines[2].blocks[0]["content"] == EMPTY


REDACTED = {"type": "redacted_thinking", "data": "x"}


@pytest.mark.parametrize("stray", [use("a"), thought(), REDACTED, SERVER, {"type": "hologram"}])
def test_what_only_the_llm_says_is_left_out_of_the_persons_side(stray: dict[str, Any]) -> None:
    done = mended(user("go", stray), bot("hm"), user("x"))
    assert types(done) == [["text"], ["text"], ["text"]]
    assert stray["type"] in done.repairs[0]


@pytest.mark.parametrize("stray", [gave("a", "1"), PICTURE, {"type": "document"}, {"type": "hologram"}])
def test_what_only_the_persons_side_says_is_left_out_of_an_answer(stray: dict[str, Any]) -> None:
    done = mended(user("go"), bot(stray, "hm"), user("x"))
    assert types(done)[1] == ["text"]
    assert stray["type"] in done.repairs[0]


def test_keys_that_the_api_does_not_know_are_left_out_of_blocks_and_of_their_parts() -> None:
    odd = {"index": 1, "usage": {}}
    done = mended(
        user({"type": "text", "text": "go", **odd}),
        bot({**thought(), **odd}, {**use("a"), **odd}),
        user({**gave("a", [{"type": "text", "text": "ok", **odd}, {**PICTURE, **odd}]), **odd}),
    )
    assert done.lines[0].blocks == ({"type": "text", "text": "go"},)
    assert done.lines[1].blocks == ({**thought(), **odd}, use("a")), "thinking stands as it came"
    assert done.lines[2].blocks == (gave("a", [{"type": "text", "text": "ok"}, PICTURE]),)
    assert "index, usage" in done.repairs[0]


def test_what_no_result_may_hold_is_left_out_of_it() -> None:
    done = mended(user("go"), bot(use("a")), user(gave("a", [{"type": "hologram"}, PICTURE])))
    assert done.lines[2].blocks[0]["content"] == [PICTURE]


def test_redacted_thinking_without_data_is_not_sent() -> None:
    done = mended(user("go"), bot({"type": "redacted_thinking", "data": ""}, "hm"), user("x"))
    assert types(done)[1] == ["text"]


def test_a_list_of_nothing_but_blanks_says_that_nothing_was_said() -> None:
    assert mended(user(), bot(" "), user("")).lines[0].blocks[0]["text"] == EMPTY
