"""Asking for a summary: what is sent, in which order, and what counts as one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from runs.engine import tokens
from runs.engine.errors import PromptTooLong
from runs.engine.events import Delta, Trigger, Usage, WindowEdited
from runs.engine.messages import text
from runs.engine.middleware.base import Asked
from runs.engine.middleware.summary import judged, prompt_text, without_known
from runs.engine.ports import Answer, Cancel, Request
from tests.cases.ground import CannedLlm, Ground

from ..stage import GOAL, answer, laid, of, said, summary, talk, thought, use


def asked(ground: Ground, keep: int | None = 0) -> list[dict[str, Any]]:
    ground.take(
        ground.technique("compact").compact(Asked(trigger=Trigger.PERSON, keep=keep, instructions="shelves"))
    )
    return [json.loads(request.body) for request in ground.llm.asked]


def plain(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for message in messages:
        for block in message["content"]:
            block.pop("cache_control", None)
    return messages


def test_the_first_try_is_the_window_itself_and_one_question_more() -> None:
    ground = laid(talk(6, size=40), replies=["Short."])
    window = ground.request()
    (body,) = asked(ground)
    question = body["messages"][-1]["content"].pop()
    assert plain(body["messages"]) == plain(window["messages"])
    assert (body["tools"], body["system"]) == (window["tools"], window["system"])
    assert "tool_choice" not in body
    assert question["text"].startswith("Stop here and write a summary.")
    assert body["metadata"]["user_id"] == "r-case0:6:summary"


def test_where_the_window_does_not_fit_only_what_is_folded_is_sent_from_the_goal_on() -> None:
    ground = laid([*talk(6, size=40), *talk(1, size=900)[1:]], replies=["Short."])
    ground.llm.capability = replace(ground.llm.capability, context=10_000)
    window = ground.request()
    (body,) = asked(ground, keep=2)
    body["messages"][-1]["content"].pop()
    assert plain(body["messages"]) == plain(window["messages"])[: len(body["messages"])], "the cache knows it"
    assert body["messages"][0]["content"][0]["text"] == GOAL


def test_where_that_does_not_fit_either_it_is_told_in_parts_that_do() -> None:
    """The text to be summarised is longer than the summariser's window."""
    ground = laid(talk(30, size=60), limit=40_000, replies=[summary(f"Part {at}.") for at in range(30)])
    ground.llm.capability = replace(ground.llm.capability, context=6_000)
    bodies = asked(ground)
    assert 5 < len(bodies) < 20
    for at, body in enumerate(bodies):
        assert tokens.estimate(json.dumps(body["messages"])) < 6_000
        assert "tools" not in body
        assert (f"Summary so far:\nPart {at - 1}." in body["messages"][0]["content"][0]["text"]) == (at > 0)
    assert of(WindowEdited, ground.events)[0].edit.episode.text == f"Part {len(bodies) - 1}."


def test_a_single_line_longer_than_the_window_is_cut_to_what_fits() -> None:
    ground = laid([*talk(1), *talk(1)[1:]], limit=40_000, replies=["Short."])
    ground.llm.capability = replace(ground.llm.capability, context=4_000)
    said(ground, "你好世界" * 2_000)
    for body in asked(ground):
        assert tokens.estimate(json.dumps(body["messages"], ensure_ascii=False)) < 4_000


def test_a_transcript_has_long_results_by_head_and_tail_and_no_tool_blocks() -> None:
    ground = laid(talk(2, size=300), replies=[summary(""), summary("Short.")])
    body = asked(ground)[1]
    (message,) = body["messages"]
    (block,) = message["content"]
    assert block["type"] == "text"
    assert "call read_file" in block["text"]
    assert "c1_0 line 0 says" in block["text"]
    assert "c1_0 line 299 says" in block["text"]
    assert "c1_0 line 150 says" not in block["text"]
    assert GOAL in block["text"]


def test_too_long_for_the_server_is_told_as_a_transcript() -> None:
    class Short(CannedLlm):
        def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
            if b'"tools"' in request.body:
                self.asked.append(request)
                raise PromptTooLong("prompt is too long: 9 tokens > 8 maximum")
            yield from super().answer(request, cancel)

    ground = laid(talk(6, size=40), replies=["Short."])
    ground.desk.llm = ground.llm = Short(ground.llm.capability, [summary("Short.")])
    asked(ground)
    assert of(WindowEdited, ground.events)


def test_the_prompt_says_how_long_what_the_person_asks_and_what_stays_beside_it() -> None:
    ground = laid(talk(2))
    prompt = prompt_text(ground.desk, "values: LAMP-9: brass", "half \ud835 a shelf")
    assert "at most 1,000 words (2,000 tokens)" in prompt
    assert "The person asks for this summary: half � a shelf" in prompt
    assert prompt.endswith("They are not to be repeated:\nvalues: LAMP-9: brass")
    for part in (
        "goal and every constraint",
        "Decisions",
        "in the language of the conversation",
        "NEW window",
    ):
        assert part in prompt


def test_the_prompt_is_a_file_that_a_person_can_replace(tmp_path: Any) -> None:
    own = tmp_path / "own.md"
    own.write_text("Sum up in {words} words.")
    ground = laid(talk(2), compact={"prompt": str(own)})
    assert prompt_text(ground.desk, "", "") == "Sum up in 1,000 words."


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (answer("It was found."), ""),
        (answer(thought(), "It was found."), ""),
        (answer("<summary>\nIt was found.\n</summary>"), ""),
        (answer("It was", use("z")), "no summary: a tool call came instead (an empty summary)"),
        (answer("It was", stop="max_tokens"), "summary truncated: it was cut off (max_tokens)"),
        (answer("It was", stop="refusal"), "summary refused by the llm (refusal)"),
        (answer(thought()), "empty summary"),
        (answer("<function_calls>x"), "empty summary"),
        (answer('<tool_call>\n{"name": "read_file"}'), "empty summary"),
        (answer('```json\n{"name": "read_file", "input": {}}\n```'), "empty summary"),
        (answer('[TOOL_CALLS] [{"name": "x"}]'), "empty summary"),
    ],
)
def test_what_counts_as_a_summary(given: Answer, problem: str) -> None:
    found = judged(given)
    assert found.problem == problem
    if not problem:
        assert found.text == "It was found."


def test_half_characters_of_a_summary_do_not_reach_the_archive() -> None:
    assert judged(answer("bad \ud835 end")).text == "bad � end"


def test_what_the_ledger_holds_is_taken_out_and_empty_lines_stay() -> None:
    body = "State:\n\n- LAMP-9: brass\nfiles read: a.py, b.py\nWe go on."
    assert without_known(body, "values: LAMP-9: brass\nfiles read: a.py") == "State:\n\nWe go on."


def test_usage_of_every_call_is_summed() -> None:
    ground = laid(talk(6, size=40), replies=[summary(""), summary("Short.")])
    bodies = asked(ground)
    edit = of(WindowEdited, ground.events)[0].edit
    sizes = [len(request.body) // 4 for request in ground.llm.asked]
    assert len(bodies) == 2
    assert edit.usage == Usage(input=sum(sizes), output=tokens.of_content([text(""), text("Short.")]))
    assert ground.desk.spent.cost == edit.cost == ground.desk.cost(edit.usage)
