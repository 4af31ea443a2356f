"""The chart's data: compact, exact where the window drops, and the same as a table."""

from __future__ import annotations

from runs.engine.events import PARTS
from runs.models import Turn
from runs.present import chart
from runs.present.vitals import policy_of
from tests.present.conftest import LIMIT, READ, Scene


def test_columns_hold_every_turn_and_its_ten_parts(scene: Scene) -> None:
    scene.turns(5, READ)
    data = chart.columns(scene.fresh)
    assert data["turns"] == [1, 2, 3, 4, 5]
    assert list(data["parts"]) == list(PARTS)
    for at, turn in enumerate(Turn.objects.filter(run=scene.run).order_by("number")):
        assert sum(data["parts"][part][at] for part in PARTS) == data["window"][at] == turn.window
    assert data["limit"] == LIMIT
    assert [mark["at"] for mark in data["marks"]] == [14_400, 20_400]


def test_edits_are_flags_between_turns(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.clear_results()
    scene.turns(1, READ)
    scene.compact()
    kinds = [(flag["kind"], flag["number"]) for flag in chart.columns(scene.fresh)["edits"]]
    assert kinds == [("clearing", 0), ("compaction", 1)]


def test_a_persons_messages_are_marked(scene: Scene) -> None:
    scene.turns(2)
    scene.say("Keep the format.")
    assert chart.columns(scene.fresh)["said"] == [2]


def test_a_long_run_is_sent_in_few_points_with_its_peaks() -> None:
    heads = [(number, 100 + number % 50) for number in range(1, 10_001)]
    heads[4_321] = (4_322, 9_999)
    kept = chart.bucketed(heads, {2_000}, 500)
    assert len(kept) <= 500
    assert {1, 10_000, 4_322, 1_999, 2_000, 2_001} <= kept


def test_a_point_has_the_contracts_keys(scene: Scene) -> None:
    scene.turns(1, READ)
    turn = Turn.objects.get(run=scene.run, number=1)
    point = chart.point(turn, policy_of(scene.fresh))
    assert {"turn", "parts", "limit", "marks"} <= set(point)
    assert list(point["parts"]) == list(PARTS)
    assert sum(point["parts"].values()) == turn.window


def test_where_the_cache_fell_the_point_says_why(scene: Scene) -> None:
    scene.turns(1, READ)
    turn = Turn.objects.get(run=scene.run, number=1)
    assert chart.point(turn, policy_of(scene.fresh))["miss"] == ""
    turn.cache_miss = "the tools changed"
    assert chart.point(turn, policy_of(scene.fresh))["miss"] == "the tools changed"


def test_the_table_twin_says_what_the_chart_shows(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    rows = chart.table(scene.fresh)
    data = chart.columns(scene.fresh)
    assert [row["turn"] for row in rows] == data["turns"][::-1]
    assert rows[0]["tokens"] == data["window"][-1]
    assert rows[0]["events"] == "compaction 1"


def test_the_sentence_for_screen_readers_counts_the_compactions(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    edit = scene.run.edits.get()
    words = chart.summary(scene.fresh)
    assert f"1 compaction: turn {edit.turn}, {edit.tokens_before:,} to {edit.tokens_after:,}." in words
