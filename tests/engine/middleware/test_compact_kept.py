"""Compact: what of the window is kept, in which form, and what becomes of the rest."""

from __future__ import annotations

import json

import pytest

from runs.engine.events import CompactionFailed, Form, WindowEdited
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.middleware.base import Asked
from tests.cases.structure import problems

from ..stage import GOAL, add, bot, gave, laid, lines, measured, of, said, summary, talk, thought, use, user
from .test_compact import before_call, compact, full, walk


def test_keep_nothing_folds_the_last_turn_too() -> None:
    ground = full(turns=6)
    compact(ground, Asked(keep=0))
    (message,) = ground.request()["messages"]
    assert message["content"][-1]["text"] == "Continue the work."


def test_keep_nothing_by_policy() -> None:
    ground = full(compact={"keep": 0.0, "keep_messages": 0})
    before_call(ground)
    assert [entry.message.kind for entry in ground.desk.window] == [Kind.GOAL, Kind.EPISODE, Kind.NOTICE]


def test_keep_nothing_never_folds_a_call_whose_result_is_to_come() -> None:
    ground = laid([*talk(6, size=60), bot("I look", use("open"))], replies=["Short."])
    compact(ground, Asked(keep=0))
    assert ground.request()["messages"][-1]["content"][0]["tool_use_id"] == "open"


def test_at_most_so_many_messages_as_a_person_asked_for() -> None:
    ground = full(turns=6)
    compact(ground, Asked(keep=4))
    assert [entry.message.number for entry in ground.desk.window][-4:] == [10, 11, 12, 13]


def test_the_goal_and_all_a_person_said_stand_verbatim_wherever_it_was_said() -> None:
    ground = full(turns=3)
    said(ground, "JSON only.")
    walk(ground, count=14)
    said(ground, "And in Spanish.")
    walk(ground, size=2)
    before_call(ground)
    first = [block["text"] for block in ground.request()["messages"][0]["content"]]
    assert first[:2] == [GOAL, "JSON only."]
    assert "And in Spanish." in json.dumps(ground.request())


def test_when_the_tail_shrinks_what_was_said_in_it_moves_to_the_head_in_its_place() -> None:
    ground = laid(talk(8, size=60), replies=["Short."], compact={"keep": 0.4})
    walk(ground, size=120)
    said(ground, "JSON only.")
    walk(ground, size=120, count=3)
    compact(ground, Asked())
    assert [entry.message.number for entry in ground.desk.window][-2:] == [25, 26], "only the last turn"
    first = [block["text"] for block in ground.request()["messages"][0]["content"]]
    assert first[:2] == [GOAL, "JSON only."]
    assert first[-1] == "Continue the work."


def test_a_tail_that_is_too_large_shrinks_to_the_last_turn() -> None:
    ground = full(compact={"keep": 0.5})
    edit = of(WindowEdited, before_call(ground))[0].edit
    assert edit.tokens_after <= ground.desk.mark // 2
    assert [entry.message.number for entry in ground.desk.window][-2:] == [32, 33]


def test_then_the_results_of_that_turn_are_cleared() -> None:
    ground = laid(talk(12, size=30), replies=["Short."])
    walk(ground, size=700)
    before_call(ground)
    assert ground.desk.window.entries[-1].form is Form.CLEARED
    assert ground.desk.read().tokens <= ground.desk.mark // 2


def test_both_clears_the_kept_tail_and_folds_the_rest() -> None:
    ground = full(turns=8)
    edit = of(WindowEdited, compact(ground, Asked(method="both", keep=6)))[0].edit
    tail = ground.desk.window.entries[-6:]
    assert [entry.form for entry in tail] == [Form.FULL, Form.CLEARED] * 3
    assert (edit.kind, edit.method) == ("compact", "both")


def test_method_clear_folds_nothing() -> None:
    ground = full(turns=8)
    edit = of(WindowEdited, compact(ground, Asked(method="clear", keep=2)))[0].edit
    assert (edit.kind, edit.episode) == ("clear_results", None)
    (failed,) = compact(ground, Asked(method="clear", keep=2))
    assert isinstance(failed, CompactionFailed)
    assert failed.why == "nothing to clear"


def test_thirty_parallel_reads_jump_over_the_mark_and_are_weighed_before_the_next_call() -> None:
    """Trap 9: counted after the results and before the call; a summary that does not fit is not asked."""
    ground = laid(talk(3, size=20), replies=["Short."])
    measured(ground)
    assert ground.desk.share() < 0.6
    ids = [f"p{at}" for at in range(30)]
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I read all"), *(use(call) for call in ids)])
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(call, lines(call, 60)) for call in ids])
    assert ground.desk.share() > 1
    assert of(WindowEdited, before_call(ground))
    room = ground.llm.capability.context
    for request in ground.llm.asked:
        assert len(request.body) / 3 < room
    assert ground.desk.share() < 0.6
    assert problems(ground.request()["messages"]) == []


@pytest.mark.parametrize("size", [120, 600])
@pytest.mark.parametrize("turns", [0, 3])
def test_a_turn_that_alone_is_larger_than_the_limit_shrinks_to_markers(turns: int, size: int) -> None:
    """Trap 9: in the first turn nothing can be folded, and previews of thirty results do not fit either."""
    spoken = talk(turns, size=20) if turns else [user("Read all.")]
    ground = laid(spoken, limit=8_000, replies=["Short."])
    ids = [f"p{at}" for at in range(30)]
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I read all"), *(use(call) for call in ids)])
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(call, lines(call, size)) for call in ids])
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    assert ground.desk.share() > 1
    before_call(ground)
    assert ground.desk.share() < 0.6
    assert problems(ground.request()["messages"]) == []
    assert str(ground.request()["messages"]).count("Get it back") == 30


@pytest.mark.parametrize("method", ["summary", "both"])
def test_bound_thinking_in_the_kept_tail_goes_with_its_prefix(method: str) -> None:
    """Trap 6: kept behind an edit it is a 400."""
    ground = laid(talk(8, size=60, thinking=True), thinking="bound", replies=["Short."])
    compact(ground, Asked(method=method, keep=6))
    sent = ground.request()["messages"]
    assert not any("thinking" in block["type"] for message in sent for block in message["content"])


@pytest.mark.parametrize("thinking", ["none", "adaptive"])
def test_thinking_that_is_not_bound_stays_in_the_tail_as_it_was(thinking: str) -> None:
    ground = laid(talk(8, size=60, thinking=True), thinking=thinking, replies=["Short."])
    compact(ground, Asked(keep=6))
    sent = [block for message in ground.request()["messages"] for block in message["content"]]
    assert [block for block in sent if block["type"] == "thinking"] == [
        thought(f"Turn {at}.", f"sig{at}") for at in (6, 7, 8)
    ]


def test_the_open_tool_loop_keeps_it_even_when_its_results_are_cleared() -> None:
    ground = laid(talk(10, size=30, thinking=True), thinking="adaptive", replies=["Short."])
    ids = [use("big")]
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [thought("Open.", "sig"), *ids])
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave("big", lines("big", 800))])
    before_call(ground)
    answer, results = ground.desk.window.entries[-2:]
    assert (answer.form, results.form) == (Form.FULL, Form.CLEARED)


def test_it_has_the_summary_and_the_ledger_and_folds_the_one_before() -> None:
    ground = laid(
        [*talk(3), bot("x", use("v")), user(gave("v", "LAMP-9: brass")), *talk(6, size=60)[1:]][:12],
        replies=["One.", "Two."],
    )
    compact(ground, Asked(keep=0))
    walk(ground, count=3)
    second = of(WindowEdited, compact(ground, Asked(keep=0)))[0].edit.episode
    assert second is not None
    assert (second.number, second.folds, second.text) == (2, 1, "Two.")
    assert "LAMP-9: brass" in second.ledger
    body = json.dumps(ground.request())
    assert "<summary turns=" in body
    assert "One." not in body
    assert sum(entry.message.kind is Kind.EPISODE for entry in ground.desk.window) == 1


def test_lines_that_the_ledger_holds_are_dropped_from_the_summary() -> None:
    """Trap 1: else they multiply with each summary until none fits any more."""
    ground = laid(
        [*talk(6, size=60), bot("x", use("v")), user(gave("v", "LAMP-9: brass"))],
        replies=["- LAMP-9: brass\nWe go on."],
    )
    episode = of(WindowEdited, compact(ground, Asked(keep=0)))[0].edit.episode
    assert episode is not None
    assert (episode.text, "LAMP-9: brass" in episode.ledger) == ("We go on.", True)


def test_a_summariser_that_repeats_everything_does_not_outgrow_the_window() -> None:
    """Trap 1 over ten compactions: each repeats what it was told, the ledger included."""
    ground = laid(talk(2, size=60), replies=["x"])
    for at in range(10):
        walk(ground, count=15)
        add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look"), use(f"k{at}")])
        add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(f"k{at}", f"LAMP-{at}: shelf {at}")])
        episode = ground.desk.record.episode
        ground.llm.replies = [summary((episode.ledger + "\n" if episode else "") + f"Stage {at} is done.")]
        assert of(WindowEdited, before_call(ground)), "it never fails"
    assert ground.desk.record.episode is not None
    assert ground.desk.record.episode.text == "Stage 9 is done."
    assert all(f"LAMP-{at}: shelf {at}" in json.dumps(ground.request()) for at in range(10))
