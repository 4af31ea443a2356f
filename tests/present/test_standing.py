"""Where a message stands: one answer for now and for any turn of the past."""

from __future__ import annotations

from runs.models import Turn
from runs.present.standing import Standing
from tests.present.conftest import READ, Scene


def test_what_was_folded_twice_names_the_compaction_that_took_it_out(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.compact()
    scene.turns(8, READ)
    scene.compact()
    standing = Standing.now(scene.fresh)
    first, ninth = _answer(scene, 1), _answer(scene, 9)
    assert (standing.tag(first) or _NONE).text == "summarised in #1"
    assert (standing.tag(ninth) or _NONE).text == "summarised in #2"


def test_the_goal_stands_in_every_window(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.compact()
    assert Standing.now(scene.fresh).form(1) is not None


def test_the_past_knows_nothing_of_later_edits(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.compact()
    scene.turns(1)
    then = Standing.at(scene.fresh, 8)
    assert (then.tag(_answer(scene, 1)) or _NONE).text == "in window"
    assert (then.tag(_answer(scene, 9)) or _NONE).text == "later"


def test_the_window_as_of_a_turn_holds_that_turns_answer_and_results(scene: Scene) -> None:
    scene.turns(3, READ)
    row = Turn.objects.get(run=scene.run, number=2)
    then = Standing.at(scene.fresh, 2)
    assert then.upto == row.upto + 2
    assert then.form(row.upto + 2) is not None
    assert then.form(row.upto + 3) is None


def test_a_turn_that_is_not_there_yet_shows_the_present(scene: Scene) -> None:
    scene.turns(2)
    assert Standing.at(scene.fresh, 99).past is None


class _None:
    text = ""


_NONE = _None()


def _answer(scene: Scene, turn: int) -> int:
    from runs.models import Message

    return Message.objects.get(run=scene.run, turn=turn, kind="answer").number
