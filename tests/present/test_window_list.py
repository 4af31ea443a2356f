"""The window in the inspector: list, map and gauge add up alike."""

from __future__ import annotations

from runs.engine.events import PARTS
from runs.models import Turn
from runs.present.standing import Standing
from runs.present.window_list import MAP, window_list
from runs.store import page_reads
from tests import story
from tests.present.conftest import READ, Scene


def _now(scene: Scene, sort: str = "order"):  # noqa: ANN202 (the type is the thing tested)
    run = scene.fresh
    return window_list(run, Standing.now(run), page_reads.last_closed(run), sort)


def test_the_entries_add_up_to_the_gauge(scene: Scene) -> None:
    scene.turns(5, READ, thinking="Hm.")
    shown = _now(scene)
    turn = Turn.objects.get(run=scene.run, number=5)
    assert sum(entry.tokens for entry in shown.entries) == shown.tokens == turn.window
    assert {part: shown.parts[part] for part in PARTS} == {part: turn.parts[part] for part in PARTS}


def test_the_map_is_as_long_as_the_window(scene: Scene) -> None:
    scene.turns(5, READ, thinking="Hm.")
    rects = _now(scene).rects
    assert abs(sum(rect.height for rect in rects) - MAP) < 1
    assert rects[0].part == "system"
    keys = {entry.key for entry in _now(scene).entries}
    assert {rect.entry for rect in rects} <= keys


def test_each_result_is_named_by_the_call_it_answers(scene: Scene) -> None:
    scene.turns(
        1, READ, story.Call(name="search_files", input={"pattern": "next_page"}, result="a.py:1\n" * 50)
    )
    names = [(entry.text, entry.code) for entry in _now(scene).entries if entry.part == "results"]
    assert names == [("read_file", "a.py"), ("search_files", "next_page")]


def test_cleared_results_that_follow_each_other_are_one_row(scene: Scene) -> None:
    scene.turns(8, READ, words=" ")
    scene.clear_results()
    stubs = [entry for entry in _now(scene).entries if entry.stub]
    assert sum(entry.count for entry in stubs) == 5


def test_after_an_edit_the_list_adds_up_to_what_the_edit_said(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    shown = _now(scene)
    assert shown.tokens == scene.run.edits.get().tokens_after
    assert any(entry.text.startswith("Summary, covers turns") for entry in shown.entries)


def test_the_past_lists_the_window_of_its_turn(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    scene.turns(2, READ)
    run = scene.fresh
    turn = Turn.objects.get(run=run, number=4)
    shown = window_list(run, Standing.at(run, 4), turn)
    assert shown.tokens == turn.window
    assert max(entry.last_turn for entry in shown.entries) == 4


def test_size_and_age_only_sort(scene: Scene) -> None:
    scene.turns(4, READ)
    sizes = [entry.tokens for entry in _now(scene, "size").entries]
    assert sizes == sorted(sizes, reverse=True)
    assert {entry.key for entry in _now(scene, "age").entries} == {entry.key for entry in _now(scene).entries}
