"""An agent made from its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs.engine import tokens
from runs.engine.assemble import limit_of, max_tokens, shape_of, system_prompt, technique_named
from runs.engine.errors import EngineError
from runs.engine.middleware.base import Technique
from runs.engine.middleware.compact import Compact
from runs.engine.policy import preset
from runs.engine.ports import Capability

from .stage import Extra, answer, play

WIDE = Capability(llm="x", context=1_000_000, max_output=128_000)


@pytest.mark.parametrize(
    ("context", "output", "limit", "reserve", "tokens_of_answer"),
    [
        (1_000_000, 128_000, 200_000, 0, 16_000),
        (200_000, 64_000, 184_000, 0, 16_000),
        (10_000, 8_000, 8_000, 0, 2_000),
    ],
)
def test_the_limit_is_the_window_less_its_reserve_and_at_most_200_000(
    context: int, output: int, limit: int, reserve: int, tokens_of_answer: int
) -> None:
    capability = Capability(llm="x", context=context, max_output=output)
    policy = preset("default")
    assert (limit_of(policy, capability), max_tokens(policy, capability)) == (limit, tokens_of_answer)


def test_a_limit_and_a_reserve_of_ones_own_count_as_far_as_the_llm_can() -> None:
    policy = preset("default").changed(window={"limit": 500_000, "reserve": 4_000})
    assert (limit_of(policy, WIDE), max_tokens(policy, WIDE)) == (500_000, 4_000)
    assert limit_of(policy, replace(WIDE, context=100_000)) == 96_000
    assert max_tokens(policy, replace(WIDE, max_output=1_000)) == 1_000


def test_the_numbers_that_shape_forms_follow_the_limit() -> None:
    assert shape_of(preset("default"), 200_000).result_tokens == 20_000
    assert shape_of(preset("default"), 24_000).result_tokens == 3_600
    assert shape_of(preset("default"), 24_000).message_tokens == 7_200


def test_a_technique_is_found_by_its_file_or_as_a_class_of_ones_own() -> None:
    assert technique_named("compact") is Compact
    assert technique_named("tests.engine.stage.Extra") is Extra


@pytest.mark.parametrize("name", ["levitate", "tests.engine.stage.Nobody", "tests.engine.stage.play"])
def test_a_technique_that_is_not_there_is_a_sentence(name: str) -> None:
    with pytest.raises(EngineError, match="The policy names the technique"):
        technique_named(name)


def test_every_technique_of_every_preset_can_be_made() -> None:
    for name in ("default", "careful", "classic", "demo", "frugal"):
        for technique in preset(name).techniques:
            assert technique_named(technique)().name == technique


def test_the_same_parts_give_the_same_frame_and_bytes() -> None:
    first, second = play(answer("Done.")), play(answer("Done."))
    assert first.agent.desk.frame == second.agent.desk.frame
    first.turn()
    second.turn()
    assert first.llm.asked[0].body == second.llm.asked[0].body


def test_thinking_is_asked_for_only_where_the_llm_chooses_itself_how_much() -> None:
    for kind, asked in (("none", False), ("manual", False), ("adaptive", True), ("bound", True)):
        stage = play(answer("Done."), thinking=kind)
        stage.turn()
        assert ("thinking" in stage.bodies()[0]) is asked


def test_the_techniques_bring_their_tools_in_a_fixed_order() -> None:
    names = [tool["name"] for tool in play(answer("x")).agent.desk.frame.tools]
    assert names[:6] == ["list_files", "read_file", "write_file", "edit_file", "search_files", "run_command"]
    assert names[6:] == ["take_note", "update_note", "read_notes", "recall", "read_archive"]


def test_the_layers_cost_at_most_300_tokens_of_prompt_in_a_short_run() -> None:
    stage = play(*(answer(f"Look {at}.") for at in range(1)))
    prompt = system_prompt(stage.agent.techniques)
    assert tokens.estimate(prompt) - tokens.estimate(system_prompt([])) < 300


def test_a_ten_turn_run_makes_no_call_and_no_edit_of_its_own() -> None:
    from .stage import use

    looks = [answer(f"Look {at}.", use(f"l{at}", "read_notes", section="facts")) for at in range(9)]
    stage = play(*looks, answer("Done."), limit=200_000, valves={"spin_nudge": 0, "spin_pause": 0})
    for _ in range(10):
        stage.turn()
    assert len(stage.llm.asked) == 10
    assert (stage.archive.edits, stage.archive.version) == (0, 1)


def test_a_persons_own_technique_is_told_when_the_run_begins() -> None:
    class Own(Technique):
        name = "own"

    own = Own()
    own.start(play(answer("x")).agent.desk)
    assert own.desk.slug == "r-stage"
