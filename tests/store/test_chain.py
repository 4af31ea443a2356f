"""The chain of events: every one hashed with the one before, states and orders among them, pages beside the owner."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from runs.engine import events as ev
from runs.models import Event, Run
from runs.store import archive, lease, sql
from runs.store.chain import Line, link
from runs.store.verify import verify
from tests.builders import a_run

pytestmark = pytest.mark.django_db


def claim_of(run: Run) -> lease.Claim:
    return lease.Claim(run_id=run.pk, slug=run.slug, owner=run.lease_owner, term=run.term)


def test_every_event_is_chained_to_the_one_before() -> None:
    run = a_run(turns=6)
    before = ""
    for seq, event in enumerate(Event.objects.filter(run=run).order_by("seq"), 1):
        line = Line(kind=event.kind, data=event.data, turn=event.turn)
        assert event.seq == seq
        assert event.hash == link(before, slug=run.slug, seq=seq, line=line, at=event.at)
        before = event.hash
    assert (run.head_hash, run.next_seq) == (before, seq + 1)


def test_an_end_says_when_and_a_say_takes_it_back() -> None:
    run = a_run(turns=1, order="")
    claim = claim_of(run)
    archive.append(claim, state=archive.StateChange(state="done"))
    ended = Run.objects.get(pk=run.pk)
    assert ended.ended_at is not None
    archive.append(claim, state=archive.StateChange(state="ready", reason=""))
    again = Run.objects.get(pk=run.pk)
    assert (again.state, again.ended_at) == ("ready", None)
    told = Event.objects.filter(run=run, kind="run.state").order_by("-seq")[0]
    assert told.data == {"from": "done", "to": "ready", "reason": ""}


def test_a_state_that_does_not_change_is_no_event() -> None:
    run = a_run(turns=1, order="")
    archive.append(claim_of(run), state=archive.StateChange(state="running"))
    assert Run.objects.get(pk=run.pk).next_seq == run.next_seq


def test_only_what_a_person_asks_is_written_without_owning_the_run() -> None:
    run = a_run(turns=1, order="")
    assert (
        archive.announce(run.pk, "order.asked", {"order": 1, "state": "pending", "reason": ""})
        == run.next_seq
    )
    with pytest.raises(ValueError, match="Only the owner"):
        archive.announce(run.pk, "turn.closed", {})


def test_owner_and_page_may_write_at_the_same_time() -> None:
    run = a_run(turns=1, order="")
    claim = claim_of(run)

    def ask() -> None:
        for number in range(20):
            archive.announce(run.pk, "order.asked", {"order": number, "state": "pending", "reason": ""})
        connection.close()

    page = threading.Thread(target=ask)
    page.start()
    for _ in range(20):
        archive.append(claim, ev.SpinSeen(turn=1, name="read_file", times=3))
    page.join()
    after = Run.objects.get(pk=run.pk)
    assert after.next_seq == run.next_seq + 40
    assert verify(after).ok


def test_moments_are_cut_to_milliseconds_so_that_hashes_survive_any_database() -> None:
    assert sql.now().microsecond % 1000 == 0
    assert sql.iso(sql.now()).endswith("Z")
    assert len(sql.iso(sql.now())) == len("2026-11-29T20:54:00.123Z")
