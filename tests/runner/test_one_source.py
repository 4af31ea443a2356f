"""Gauge, chart, thresholds, percents and shares have one source; what is paid beside the turns has rows of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runs import control
from runs.engine.events import Usage
from runs.models import Event, Run, Spend, Turn
from runs.present import chart, vitals
from runs.store.batch import read_usage

from .conftest import Walk

Begin = Callable[..., Run]
JOB = "rehearsal/job-16"


@pytest.fixture
def worked(begin: Begin, walk: Walk) -> Run:
    """A run whose window was worked on more than once."""
    return walk(begin(JOB, policy="demo"))


def test_gauge_chart_turn_and_shares_say_the_same(worked: Run) -> None:
    columns = chart.columns(worked)
    turns = list(Turn.objects.filter(run=worked).order_by("number"))
    assert columns["window"] == [turn.window for turn in turns]
    assert [sum(turn.parts.values()) for turn in turns] == columns["window"]
    gauge = vitals.vitals(worked).gauge
    assert gauge is not None
    assert gauge.tokens == turns[-1].window == sum(part.tokens for part in gauge.segments)
    assert gauge.share == pytest.approx(turns[-1].window / turns[-1].limit)
    assert [mark.at for mark in gauge.marks] == [mark["at"] for mark in columns["marks"]]


def test_a_threshold_is_held_against_what_the_gauge_then_shows(worked: Run) -> None:
    """The percent in the log of decisions, times the limit, is the window that was sent: the estimate of what was new
    is corrected by usage, so it is off by little once a few turns have told."""
    sent = {turn.number: turn.window for turn in Turn.objects.filter(run=worked)}
    edited = set(worked.edits.values_list("turn", flat=True))
    checked = [
        event
        for event in Event.objects.filter(run=worked, kind="window.checked", turn__gte=4).order_by("seq")
        if event.data["technique"] == "compact" and event.turn in sent and event.turn not in edited
    ]
    assert len(checked) >= 8
    for event in checked:
        assert event.data["value"] * worked.sums["window"]["limit"] == pytest.approx(
            sent[event.turn], rel=0.05
        )


def test_usage_is_the_truth_about_the_turn_it_was_counted_on(worked: Run) -> None:
    for turn in Turn.objects.filter(run=worked):
        assert turn.window == read_usage(turn.usage).prompt
        assert not turn.estimated


def test_what_is_paid_beside_the_turns_has_rows_of_its_own_and_never_fills_the_gauge(
    begin: Begin, walk: Walk, one_turn_a_slice: None
) -> None:
    run = walk(begin("rehearsal/job-8+reset:700@4", policy="demo"), slices=6)
    control.order(run.owner, run, "compact", {"method": "summary"})
    walk(run)
    kinds = {spend.kind for spend in Spend.objects.filter(run=run)}
    assert kinds == {"turn", "lost", "compaction"}
    assert run.sums["cost"] == sum(Spend.objects.filter(run=run).values_list("cost", flat=True))
    for kind in kinds:
        assert paid(run, kind).prompt > 0
    turns = Turn.objects.filter(run=run, status="closed")
    assert all(turn.window == read_usage(turn.usage).prompt for turn in turns)
    assert paid(run, "turn").prompt == sum(turn.window for turn in turns)
    assert paid(run, "lost").prompt == turns.get(number=4).window, "what the server had told before the cut"


def paid(run: Run, kind: str) -> Usage:
    return sum((read_usage(row.usage) for row in Spend.objects.filter(run=run, kind=kind)), Usage())
