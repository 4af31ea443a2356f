"""From slice to slice the agent stays in memory; whenever somebody else may have written, the archive is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs import control
from runs.engine.loop import Agent
from runs.models import Message, Run
from runs.runner import slice as slices
from runs.runner.warm import SLICES, warm
from runs.store import lease
from runs.store.verify import verify
from tests.builders import a_person

from .conftest import Walk

Begin = Callable[..., Run]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Agent]:
    """Every agent that was made from the archive."""
    made: list[Agent] = []
    real = slices.take_up

    def take_up(*given: Any) -> Agent:
        made.append(real(*given))
        return made[-1]

    monkeypatch.setattr(slices, "take_up", take_up)
    return made


def test_a_run_is_taken_up_once_for_many_slices(
    begin: Begin, walk: Walk, one_turn_a_slice: None, taken: list[Agent]
) -> None:
    run = walk(begin("rehearsal/job-6"))
    assert (run.state, run.turn_no, len(taken)) == ("done", 7, 1)
    assert verify(run).ok


def test_after_some_slices_it_is_taken_up_anew(
    begin: Begin, walk: Walk, one_turn_a_slice: None, taken: list[Agent]
) -> None:
    run = walk(begin(f"rehearsal/job-{SLICES + 2}"), slices=30)
    assert (run.state, len(taken)) == ("done", 2)
    assert verify(run).ok


def test_another_owner_in_between_and_the_archive_is_asked(
    begin: Begin, walk: Walk, one_turn_a_slice: None, taken: list[Agent]
) -> None:
    run = walk(begin("rehearsal/job-4"), slices=2)
    claim = lease.claim(run.pk, "somebody else")
    assert claim
    lease.release(claim)
    run = walk(run)
    assert (run.state, len(taken)) == ("done", 2)


def test_a_window_that_was_compacted_is_taken_up_anew(
    begin: Begin, walk: Walk, one_turn_a_slice: None, taken: list[Agent]
) -> None:
    run = walk(begin("rehearsal/job-9"), slices=7)
    control.order(a_person(), run, "compact", {"keep": 0})
    run = walk(run)
    assert (run.state, len(taken)) == ("done", 2)
    assert verify(run).ok


def test_what_a_person_says_between_two_slices_is_read(
    begin: Begin, walk: Walk, one_turn_a_slice: None
) -> None:
    run = walk(begin("rehearsal/job-5"), slices=2)
    control.order(a_person(), run, "say", {"text": "Explain."})
    run = walk(run)
    assert run.state == "done"
    assert Message.objects.filter(run=run, kind="say").count() == 1
    assert verify(run).ok


def test_a_run_that_needs_somebody_is_not_kept(begin: Begin, walk: Walk) -> None:
    run = walk(begin())
    assert run.pk not in warm._left
