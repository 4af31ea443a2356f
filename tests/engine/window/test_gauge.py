"""How full the window is, and with what."""

from __future__ import annotations

import pytest

from runs.engine.events import PARTS, Form, Usage
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.middleware.base import Asked
from runs.engine.window.gauge import Measured, scaled
from tests.cases.ground import Ground

from ..stage import add, bot, gave, laid, lines, measured, said, talk, thought, use, user


def learned(ground: Ground, **usage: int) -> None:
    desk = ground.desk
    desk.gauge.learn(
        desk.window.version.number, desk.window.upto, Usage(**usage), desk.with_blocks(desk.window.entries)
    )


def walked(ground: Ground, size: int) -> None:
    """One more turn in the window of a desk."""
    number = ground.desk.numbers.message
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look"), use(f"w{number}")])
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(f"w{number}", lines(str(number), size))])


def test_the_usage_of_the_last_answer_is_the_truth_cache_included() -> None:
    ground = laid(talk(3))
    learned(ground, input=3, cache_read=98_000, cache_write=1_500, cache_write_1h=500, output=500)
    reading = ground.desk.read()
    assert (reading.tokens, reading.estimated) == (100_003, False)
    assert sum(reading.parts.values()) == 100_003


def test_only_what_came_after_is_estimated() -> None:
    ground = laid(talk(3))
    measured(ground, 5_000)
    walked(ground, 50)
    new = sum(ground.desk.sizes(ground.desk.window.entries[-2:]))
    assert ground.desk.read().tokens == 5_000 + new
    assert ground.desk.read().estimated


def test_a_usage_counted_on_another_version_says_nothing_of_this_one() -> None:
    ground = laid(talk(3))
    honest = ground.desk.read().tokens
    ground.desk.gauge.last = Measured(version=9, upto=7, prompt=181_000)
    assert ground.desk.read().tokens == honest
    assert ground.desk.read().estimated


def test_every_part_has_its_place_and_they_add_up_to_the_total() -> None:
    ground = laid(
        [user("go"), bot(thought("long " * 40), "I look", use("a")), user(gave("a", lines("x", 60)))]
    )
    reading = ground.desk.read()
    assert tuple(reading.parts) == PARTS
    assert sum(reading.parts.values()) == reading.tokens
    for name in ("system", "tools", "person", "assistant", "thinking", "results"):
        assert reading.parts[name] > 0
    ground.take(ground.technique("clear_results").clear(Asked(keep=0)))
    assert ground.desk.read().parts["results"] == 0
    assert ground.desk.read().parts["stubs"] > 0


def test_shares_belong_to_message_and_form_within_a_few_percent_after_edits() -> None:
    """Trap 10: one share a message was 37 % wrong after edits."""
    ground = laid(talk(12, size=60), limit=40_000)
    truth = 1.3
    learned(
        ground,
        input=round(truth * ground.desk.gauge.estimate(ground.desk.with_blocks(ground.desk.window.entries))),
    )
    for _ in range(4):
        walked(ground, 60)
        raw = sum(
            sum(ground.desk.gauge._raw_of(*pair).values())
            for pair in ground.desk.with_blocks(ground.desk.window)
        )
        learned(ground, input=round(truth * (raw + sum(ground.desk.gauge.fixed.values()))))
    ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
    raw = sum(
        sum(ground.desk.gauge._raw_of(*pair).values()) for pair in ground.desk.with_blocks(ground.desk.window)
    )
    real = truth * (raw + sum(ground.desk.gauge.fixed.values()))
    assert ground.desk.read().tokens == pytest.approx(real, rel=0.033)


def test_the_estimator_is_corrected_by_what_usage_taught_and_never_runs_away() -> None:
    ground = laid(talk(3))
    estimate = ground.desk.read().tokens
    learned(ground, input=round(estimate * 1.5))
    assert ground.desk.gauge.ratio == pytest.approx(1.5, rel=0.02)
    learned(ground, input=estimate * 50)
    assert ground.desk.gauge.ratio == 2.0
    learned(ground, input=1)
    assert ground.desk.gauge.ratio == 0.5


def test_what_the_prompt_gained_is_split_over_the_messages_that_were_new() -> None:
    ground = laid(talk(2))
    measured(ground, 4_000)
    walked(ground, 50)
    said(ground, "faster, please")
    measured(ground, 6_000)
    answer, results, word = ground.desk.window.entries[-3:]
    shares = ground.desk.sizes([answer, results, word])
    assert sum(shares) == pytest.approx(2_000, abs=2)
    assert shares[1] > 20 * shares[2]


def test_the_gain_of_a_preview_is_not_booked_on_its_neighbour() -> None:
    ground = laid(talk(2))
    measured(ground)
    walked(ground, 400)
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    word = said(ground, "faster, please")
    before = ground.desk.sizes([ground.desk.window.entries[-1]])[0]
    measured(ground, ground.desk.read().tokens)
    assert ground.desk.window.entries[-2].form is Form.PREVIEW
    assert ground.desk.gauge.known[word.number] <= 2 * before


def test_an_edit_of_what_was_never_sent_leaves_the_truth_about_the_rest() -> None:
    ground = laid(talk(2))
    measured(ground, 4_000)
    walked(ground, 400)
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    assert ground.desk.gauge.last == Measured(version=2, upto=5, prompt=4_000)
    assert ground.desk.read().tokens == 4_000 + sum(ground.desk.sizes(ground.desk.window.entries[-2:]))


def test_after_an_edit_of_the_rest_the_total_follows_the_last_truth_and_says_that_it_is_estimated() -> None:
    ground = laid(talk(9, size=60))
    measured(ground, 9_000)
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    edit = ground.events[-1].edit  # type: ignore[attr-defined]
    assert edit.tokens_before == 9_000
    assert ground.desk.read().tokens == edit.tokens_after
    assert ground.desk.read().estimated
    walked(ground, 3)
    assert ground.desk.read().tokens > edit.tokens_after


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_however_wrong_the_estimates_are_an_edit_that_takes_away_is_seen_to_take_away(ratio: float) -> None:
    ground = laid(talk(9, size=60))
    measured(ground, 9_000)
    ground.desk.gauge.ratio = ratio
    ground.desk.gauge.known.clear()
    ground.take(ground.technique("clear_results").clear(Asked(keep=8)))
    edit = ground.events[-1].edit  # type: ignore[attr-defined]
    assert 0 < edit.tokens_after < edit.tokens_before
    assert sum(edit.frees.values()) == edit.tokens_before - edit.tokens_after


@pytest.mark.parametrize(
    ("parts", "total"), [({"a": 1, "b": 1, "c": 1}, 100), ({"a": 7, "b": 0}, 3), ({"a": 5}, 0)]
)
def test_scaled_parts_add_up_exactly(parts: dict[str, int], total: int) -> None:
    assert sum(scaled(parts, total).values()) == total
    assert scaled({"a": 0}, 0) == {"a": 0}
