"""The agent was told that nobody knows how a call ended: the row offers what a person may add, once."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from runs import control, runner
from runs.engine.acting import Acting
from runs.models import Run
from runs.present import feed, socket, told
from runs.present.now import Now
from runs.present.rows import Row
from runs.store import page_reads
from runs.store.lease import Fenced
from tests.builders import a_person

from .conftest import Walk

pytestmark = pytest.mark.django_db


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch, one_turn_a_slice: None) -> Run:
    """A run whose worker died in its first command; the next one has told the agent, and goes on."""
    run = control.start(a_person(), control.Start(goal="x", llm="rehearsal/errands-9", pace="fast"))

    def die(*args: Any) -> None:
        raise Fenced("as if the worker were gone")

    with monkeypatch.context() as patch:
        patch.setattr(Acting, "_run", die)
        runner.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
    runner.advance(run.pk)
    return Run.objects.get(pk=run.pk)


def row(run: Run) -> Row:
    (found,) = [one for one in feed.newest(run).rows if one.told]
    return found


def shown(run: Run) -> str:
    return render_to_string(row(run).template, {"run": run, "row": row(run)})


def test_the_row_offers_all_three(unsure: Run) -> None:
    html = shown(unsure)
    assert [one for one in ("Mark done", "Run again", "Leave") if f"</svg>{one}</button>" in html] == [
        "Mark done",
        "Run again",
        "Leave",
    ]
    assert html.count("I looked at the run_command of turn 1 whose outcome was unknown: ") == 3


@pytest.mark.parametrize("finding", told.FINDINGS, ids=lambda finding: finding.word)
def test_what_was_said_takes_the_place_of_the_buttons_for_everybody(
    unsure: Run, finding: told.Finding
) -> None:
    before = unsure.next_seq
    text = told.SAID.format(name="run_command", turn=1) + finding.text
    control.order(a_person("blas"), unsure, "say", {"text": text})
    runner.advance(unsure.pk)
    unsure.refresh_from_db()
    html = shown(unsure)
    assert f'Blas looked: <b class="m">{finding.after}</b>' in html
    assert "<form" not in html
    said = page_reads.events(unsure, ("person.said",), limit=1, after=before - 1)
    (item,) = socket.items(Now(run=unsure), said)
    assert f'id="{row(unsure).id}"' in item["html"]
    assert finding.after in item["html"]


def test_words_of_ones_own_count_too(unsure: Run) -> None:
    text = told.SAID.format(name="run_command", turn=1) + "half of it stands in the list."
    control.order(a_person("blas"), unsure, "say", {"text": text})
    assert "Blas looked." in shown(unsure)


def test_a_run_that_has_ended_is_not_woken_by_a_button(unsure: Run, walk: Walk) -> None:
    assert walk(unsure, 30).state == "done"
    html = shown(unsure)
    assert "The agent was told." in html
    assert "<form" not in html
