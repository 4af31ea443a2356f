"""What was once stored stays as it was: numbers over loads, old windows behind new ones, rows of many writers."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from runs.engine.events import Recalled
from runs.engine.messages import Kind, canonical
from runs.models import Edit, Event, Run, Turn
from runs.store import archive, lease, requests, windows
from runs.store.verify import verify
from tests import story
from tests.builders import Building, a_person, a_run

pytestmark = pytest.mark.django_db
WRITES, THREADS = 100, 4


def test_messages_have_the_same_numbers_each_time_they_are_loaded() -> None:
    run = a_run(turns=24, order="")
    (one, first), (other, again) = windows.load(run), windows.load(run)
    assert one == other
    assert [message.number for message in first] == [message.number for message in again]
    assert [canonical(list(message.content)) for message in first] == [
        canonical(list(message.content)) for message in again
    ]


def test_a_turn_between_two_compactions_still_has_the_window_it_had() -> None:
    run = a_run(turns=60, order="")
    first, second = Edit.objects.filter(run=run, episode__isnull=False).order_by("number")[:2]
    between = Turn.objects.filter(run=run, status="closed", number__gt=first.turn, number__lt=second.turn)
    assert between.exists()
    for turn in between:
        version, messages = windows.load(run, turn.version, turn.upto)
        episodes = [message for message in messages if message.kind is Kind.EPISODE]
        assert len(episodes) == 1
        assert story.EPISODE in episodes[0].content[0]["text"]
        assert not any(message.number > turn.upto for message in messages)
        assert requests.sent(run, turn.number).as_sent
        assert version.number < second.after  # type: ignore[operator]


def test_the_first_episode_is_the_same_after_the_second() -> None:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    for _, step in zip(range(12), story.steps(), strict=False):
        made.take(step)
    made.compact()
    edit = Edit.objects.filter(run=made.run, episode__isnull=False).latest("number")
    before = windows.load(made.run, edit.after, edit.after and made.window.upto)
    for _, step in zip(range(12), story.steps(), strict=False):
        made.take(step)
    made.compact()
    assert windows.load(made.run, edit.after, made_upto(before)) == before


def made_upto(window: tuple[windows.Version, tuple[windows.Message, ...]]) -> int:
    return max(message.number for message in window[1])


def test_many_writers_and_a_reader_never_meet_a_locked_database() -> None:
    runs = [a_run(turns=1, order="", state="done") for _ in range(THREADS)]
    claims = [lease.claim(run.pk, f"w{at}", any_state=True) for at, run in enumerate(runs)]
    raised: list[BaseException] = []

    def write(claim: lease.Claim) -> None:
        for _ in range(WRITES):
            archive.append(claim, Recalled(turn=1, query="x", hits=0))

    def read() -> None:
        for _ in range(WRITES):
            list(Event.objects.filter(run=runs[0]).order_by("-seq")[:50])

    def alone(act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)
        finally:
            connection.close()

    acts = [lambda claim=claim: write(claim) for claim in claims if claim] + [read]  # type: ignore[misc]
    threads = [threading.Thread(target=alone, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == []
    for run in runs:
        assert Event.objects.filter(run=run, kind="recall.asked").count() == WRITES
        assert verify(Run.objects.get(pk=run.pk)).ok
