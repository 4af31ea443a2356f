"""Pins, drops and undo over the archive: each is a version, and the next worker finds them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from runs.engine.events import Event
from runs.engine.loop import Agent
from runs.engine.messages import Kind
from runs.engine.middleware.base import Asked
from runs.engine.middleware.pins import drop, pin
from runs.engine.middleware.undo import undo
from runs.engine.ports import Cancel
from runs.models import Edit, Run
from runs.runner.taking_up import take_up
from runs.store import archive, resume, verify, windows
from tests import story
from tests.builders import Building, a_person

BY = Asked(by="ada")


@pytest.fixture
def made(db: None) -> Building:
    """A run of 17 turns; at turn 16 the window was compacted."""
    building = Building.start(a_person(), limit=24_000, goal=story.GOAL, title=story.TITLE, llm="rehearsal")
    for step in itertools.islice(story.steps(), 17):
        building.take(step)
    return building


def taken_up(made: Building) -> Agent:
    """By a worker that knows nothing but the archive."""
    return take_up(resume.standing(made.run.pk), Cancel())


def store(made: Building, events: Iterator[Event]) -> None:
    for event in events:
        archive.append(made.claim, event)


def taken_back(made: Building) -> Edit:
    edit = Edit.objects.get(run=made.run, kind="compact", state="applied")
    agent = taken_up(made)
    store(made, undo(agent.desk, BY, edit.number, windows.past(made.run, edit.number)))
    return edit


def test_an_undo_is_a_version_and_what_it_took_back_says_undone(made: Building) -> None:
    edit = taken_back(made)
    stand = resume.standing(made.run.pk)
    newest = Edit.objects.filter(run=made.run).order_by("-number")[0]
    assert (newest.kind, newest.after) == ("undo", stand.version.number)
    assert Edit.objects.get(pk=edit.pk).state == "undone"
    assert not any(message.kind is Kind.EPISODE for message in stand.messages)
    assert verify.verify(Run.objects.get(pk=made.run.pk)).ok


def test_the_window_is_the_one_before_and_what_came_after(made: Building) -> None:
    edit = Edit.objects.get(run=made.run, kind="compact", state="applied")
    before, _ = windows.load(made.run, edit.before)
    since = {message.number for message in resume.standing(made.run.pk).messages if message.turn > edit.turn}
    taken_back(made)
    stands = [item.message for item in resume.standing(made.run.pk).version.items]
    named = [item.message for item in before.items]
    assert stands[: len(named)] == named
    assert since <= set(stands)


def test_the_next_worker_knows_that_and_when_it_was_taken_back(made: Building) -> None:
    taken_back(made)
    record = taken_up(made).desk.record
    assert (record.episode, record.undone_at) == (None, 17)


def test_an_undo_is_taken_back_with_its_episode(made: Building) -> None:
    taken_back(made)
    agent = taken_up(made)
    last = Edit.objects.get(run=made.run, kind="undo").number
    store(made, undo(agent.desk, BY, last, windows.past(made.run, last)))
    stand = resume.standing(made.run.pk)
    assert stand.episode is not None
    assert stand.episode.number == 1
    assert any(message.kind is Kind.EPISODE for message in stand.messages)


def test_an_edit_that_changed_nothing_cannot_be_taken_back(made: Building) -> None:
    with pytest.raises(LookupError, match="no edit 99"):
        windows.past(made.run, 99)


def test_pins_and_drops_are_found_by_the_next_worker(made: Building) -> None:
    agent = taken_up(made)
    answers = [e.message.number for e in agent.desk.window if e.message.kind is Kind.ANSWER]
    store(made, pin(agent.desk, BY, answers[-2]))
    store(made, drop(agent.desk, BY, answers[-3]))
    again = taken_up(made).desk.window
    held = [entry.message.number for entry in again if entry.pinned]
    assert held[0] == answers[-2]
    assert answers[-3] not in [entry.message.number for entry in again]
    assert Run.objects.get(pk=made.run.pk).version == again.version.number
