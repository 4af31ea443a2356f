"""Lists: few queries, and sparklines that stay short however long the run is."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.store import queries
from tests.builders import a_person, a_run, runs_of_every_state

pytestmark = pytest.mark.django_db


def test_a_person_sees_her_runs_the_newest_first() -> None:
    first, second = a_run(turns=1), a_run(turns=1)
    a_run(a_person("zoe"), turns=1)
    assert [run.pk for run in queries.runs(a_person().pk)] == [second.pk, first.pk]


def test_sparklines_come_in_one_query_and_end_with_the_last_turn() -> None:
    short, long = a_run(turns=5), a_run(turns=90)
    with CaptureQueriesContext(connection) as asked:
        lines = queries.sparklines([short.pk, long.pk], points=20)
    assert len(asked) == 1
    assert [turn for turn, _ in lines[short.pk]] == [1, 2, 3, 4, 5]
    assert len(lines[long.pk]) <= 20
    assert lines[long.pk][-1] == (90, long.sums["window"]["final"])
    assert queries.sparklines([]) == {}


def test_events_are_read_on_from_where_one_stopped() -> None:
    run = a_run(turns=8)
    assert [event.seq for event in queries.events(run, after=3, limit=4)] == [4, 5, 6, 7]
    assert [event.seq for event in queries.all_events(run)] == list(range(1, run.next_seq))


def test_a_run_of_every_state_can_be_built() -> None:
    states = [run.state for run in runs_of_every_state()]
    assert states == ["running", "waiting", "paused", "done", "failed", "stopped"]
    assert [queries.is_owned(run) for run in queries.runs(a_person().pk)] == [False] * 5 + [True]


def test_turns_edits_and_orders_are_listed() -> None:
    run = a_run(turns=20)
    assert [turn.number for turn in queries.turns(run, 13, 14)] == [13, 13, 14]
    assert [edit.kind for edit in queries.edits(run)] == ["clear_results", "compact"]
    assert [order.kind for order in queries.pending_orders(run)] == ["compact"]
    assert queries.run_by_slug(run.slug) == run
    assert queries.run_by_slug("r-nope0") is None
