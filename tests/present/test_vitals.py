"""Vital signs: how full, until when, at what cost; and every state in a word."""

from __future__ import annotations

import pytest

from runs.engine.events import PARTS
from runs.engine.policy import preset
from runs.models import Order, Run, Turn
from runs.present import status, vitals
from runs.store import archive, sql
from tests.present.conftest import LIMIT, READ, Scene


def test_the_gauge_shows_the_last_turns_window_part_by_part(scene: Scene) -> None:
    scene.turns(4, READ, thinking="Hm.")
    last = Turn.objects.get(run=scene.run, number=4)
    gauge = vitals.vitals(scene.fresh).gauge
    assert gauge is not None
    assert (gauge.tokens, gauge.limit) == (last.window, LIMIT)
    assert sum(part.tokens for part in gauge.segments) == last.window
    order = [part.part for part in gauge.segments]
    assert order == [part for part in PARTS if part in order]


def test_after_an_edit_the_gauge_shows_the_window_it_left(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    gauge = vitals.vitals(scene.fresh).gauge
    assert gauge is not None
    edit = scene.run.edits.get()
    assert gauge.tokens == edit.tokens_after
    assert sum(part.tokens for part in gauge.segments) == edit.tokens_after
    assert gauge.estimated


def test_turns_left_come_from_what_the_last_turns_added() -> None:
    assert vitals.turns_left(14_400, 9_400, 500) == 10
    assert vitals.turns_left(14_400, 15_000, 500) is None
    assert vitals.turns_left(14_400, 9_400, None) is None


def test_before_the_first_turn_nothing_is_pretended(scene: Scene) -> None:
    signs = vitals.vitals(scene.fresh)
    assert signs.gauge is not None
    assert signs.gauge.tokens == 0
    assert signs.money.per_turn is None
    assert signs.money.cache is None
    assert signs.gauge.marks[0].left is None


def test_an_unknown_limit_stays_unknown(scene: Scene) -> None:
    Run.objects.filter(pk=scene.run.pk).update(sums={}, policy={})
    assert vitals.vitals(scene.fresh).gauge is None


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("demo", [("compact", "mark 60 %"), ("hard", "hard 85 %")]),
        ("classic", [("clear", "clear 70 %"), ("compact", "compact 85 %"), ("hard", "hard 93 %")]),
    ],
)
def test_each_threshold_of_the_policy_has_its_tick(name: str, marks: list[tuple[str, str]]) -> None:
    placed = vitals.marks(preset(name), 100_000, 10_000, 1_000)
    assert [(mark.key, mark.label) for mark in placed] == marks
    assert all(mark.left is None for mark in placed if mark.key == "hard")


def test_labels_of_near_marks_turn_away_from_each_other() -> None:
    clear, compact, hard = vitals.marks(preset("classic"), 100_000, 0, None)
    assert (clear.anchor, compact.anchor, compact.label_x) == ("end", "end", "100.000%")
    assert hard.anchor == "", "it would stand on the one before it"


def test_money_adds_up_what_was_spent(scene: Scene) -> None:
    scene.turns(4, READ)
    run = scene.fresh
    money = vitals.vitals(run).money
    assert money.spent == run.sums["cost"] == sum(run.spends.values_list("cost", flat=True))
    assert money.per_turn == money.spent / 4
    assert money.cache is not None
    assert 0 < money.cache < 1
    assert money.budget == 5_000_000


@pytest.mark.parametrize(
    ("state", "reason", "word", "why"),
    [
        ("running", "", "Running", ""),
        ("running", "step: 2 left", "Stepping", "2 left"),
        ("ready", "", "Ready", ""),
        ("paused", "spin: The same call again.", "Paused", "The same call again."),
        ("waiting", "llm: 401 The key is not valid.", "Llm refuses", "401 The key is not valid."),
        ("waiting", "budget: It is spent.", "Valve reached", "It is spent."),
        ("waiting", "person: Say something.", "Needs you", "Say something."),
        ("waiting", "approval", "Needs approval", ""),
        ("waiting", "children", "Waits for children", ""),
        ("waiting", "unknown_outcome", "Outcome unknown", ""),
        ("waiting", "draft", "Draft waits", ""),
        ("done", "", "Done", ""),
        (
            "failed",
            "The window cannot be sent: it is empty.",
            "Failed",
            "The window cannot be sent: it is empty.",
        ),
        ("stopped", "", "Stopped", ""),
    ],
)
def test_every_state_has_a_word_and_a_colour(state: str, reason: str, word: str, why: str) -> None:
    told = status.status(Run(state=state, reason=reason))
    assert (told.word, told.why) == (word, why)
    assert told.css in ("run", "pause", "wait", "fail", "done")


def test_a_pause_names_who_asked_for_it(scene: Scene) -> None:
    Order.objects.create(
        run=scene.run, kind="pause", by="blas", at=sql.now(), client_key="k", state="applied", applied_seq=1
    )
    archive.append(scene.claim, state=archive.StateChange(state="paused", reason="person"))
    assert status.status(scene.fresh).by == "blas"


def test_an_ended_run_comes_no_nearer_to_its_mark(scene: Scene) -> None:
    scene.turns(4, READ)
    archive.append(scene.claim, state=archive.StateChange(state="done"))
    gauge = vitals.vitals(scene.fresh).gauge
    assert gauge is not None
    assert all(mark.left is None for mark in gauge.marks)
