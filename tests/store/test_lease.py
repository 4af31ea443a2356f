"""One owner at a time: claims, terms, fences, heartbeats, and what a crash leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from runs.engine import events as ev
from runs.models import Event, Run
from runs.store import archive, lease
from tests.builders import a_run, an_order

pytestmark = pytest.mark.django_db

NOTE = ev.Checked(technique="compact", value=0.5, threshold=0.6, verdict="not fired", why="50 % < 60 %")


@pytest.fixture
def run() -> Run:
    """A run that nobody holds."""
    made = a_run(turns=2, order="", state="ready")
    return Run.objects.get(pk=made.pk)


def claimed(run: Run, owner: str = "w1") -> lease.Claim:
    claim = lease.claim(run.pk, owner)
    assert claim is not None
    return claim


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until_ms=lease.now_ms() - 1)


def test_a_claim_makes_the_run_running_and_says_so_in_two_events(run: Run) -> None:
    claim = claimed(run)
    after = Run.objects.get(pk=run.pk)
    assert (after.state, after.lease_owner, after.term) == ("running", "w1", claim.term)
    newest = Event.objects.filter(run=run, seq__gte=run.next_seq).order_by("seq")
    assert [event.kind for event in newest] == ["run.state", "owner.claimed"]
    assert newest[1].data == {"worker": "w1", "term": claim.term}
    assert after.next_seq == newest[1].seq + 1
    assert after.head_hash == newest[1].hash


def test_a_held_run_cannot_be_claimed(run: Run) -> None:
    claimed(run)
    assert lease.claim(run.pk, "w2") is None
    assert lease.claim(run.pk, "w2", any_state=True) is None


def test_a_run_that_does_not_exist_cannot_be_claimed() -> None:
    assert lease.claim(999_999, "w1") is None


def test_of_many_who_claim_at_once_one_gets_it(run: Run) -> None:
    found: list[lease.Claim | None] = []
    gate = threading.Barrier(12)

    def take(owner: str) -> None:
        gate.wait()
        found.append(lease.claim(run.pk, owner))
        connection.close()

    threads = [threading.Thread(target=take, args=(f"w{number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([claim for claim in found if claim]) == 1
    assert Event.objects.filter(run=run, kind="owner.claimed", seq__gte=run.next_seq).count() == 1


@pytest.mark.parametrize("state", ["waiting", "paused", "done", "failed", "stopped"])
def test_an_idle_run_is_claimed_only_to_answer_orders_and_keeps_its_state(run: Run, state: str) -> None:
    Run.objects.filter(pk=run.pk).update(state=state)
    assert lease.claim(run.pk, "w1") is None
    assert lease.claim(run.pk, "w1", any_state=True) is not None
    assert Run.objects.get(pk=run.pk).state == state


def test_a_stale_owner_cannot_write(run: Run) -> None:
    stale = claimed(run)
    expire(run)
    fresh = claimed(run, "w2")
    before = Run.objects.get(pk=run.pk)
    with pytest.raises(lease.Fenced):
        archive.append(stale, NOTE)
    after = Run.objects.get(pk=run.pk)
    assert (after.next_seq, after.head_hash) == (before.next_seq, before.head_hash)
    assert archive.append(fresh, NOTE) == before.next_seq


def test_the_same_worker_with_an_older_term_cannot_write_either(run: Run) -> None:
    stale = claimed(run)
    expire(run)
    claimed(run, "w1")
    with pytest.raises(lease.Fenced):
        archive.append(stale, NOTE)


def test_an_owner_whose_lease_ran_out_unnoticed_may_go_on(run: Run) -> None:
    claim = claimed(run)
    expire(run)
    archive.append(claim, NOTE)
    assert lease.claim(run.pk, "w2") is None


def test_a_released_run_is_free_at_once(run: Run) -> None:
    claim = claimed(run)
    assert lease.release(claim)
    assert lease.claim(run.pk, "w2") is not None
    assert not lease.release(claim)


def test_one_heartbeat_renews_all_runs_of_an_owner(run: Run) -> None:
    other = a_run(turns=1, order="", state="ready")
    claimed(run)
    claimed(other)
    expire(run)
    expire(other)
    assert lease.renew_all("w1") == 2
    assert lease.renew_all("nobody") == 0
    assert lease.claim(run.pk, "w2") is None


@contextmanager
def writing(held: lease.Claim, **then: archive.StateChange) -> Iterator[None]:
    """Meanwhile the owner has the run's row. SQLite has one writer at a time: there all else can only come after it."""
    locked, done = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            lease.fence(held)
            locked.set()
            done.wait(20)
            archive.append(held, **then)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    locked.wait(20)
    if connection.vendor == "sqlite":
        done.set()
    yield
    done.set()
    thread.join()


def test_who_claims_does_not_stand_in_line_for_a_run_that_its_owner_is_writing(run: Run) -> None:
    """The database stood still until the lease ran out: its owner comes first, and says what had happened."""
    held = claimed(run)
    expire(run)
    with writing(held, state=archive.StateChange(state="paused", reason="database: it was away.")):
        assert lease.claim(run.pk, "w2") is None
        if connection.vendor == "postgresql":  # and was told so before the owner was done
            assert Run.objects.get(pk=run.pk).state == "running"
    assert Run.objects.get(pk=run.pk).state == "paused"


def test_a_run_that_somebody_is_writing_does_not_hold_up_the_heartbeat_of_the_others(run: Run) -> None:
    other = a_run(turns=1, order="", state="ready")
    held = claimed(run)
    claimed(other)
    expire(other)
    with writing(held):
        assert lease.renew_all("w1") == (1 if connection.vendor == "postgresql" else 2)
        assert lease.claim(other.pk, "w2") is None


def test_others_are_at_work_while_they_hold_a_run(run: Run) -> None:
    assert not lease.others_work("w2")
    claim = claimed(run)
    assert lease.others_work("w2")
    assert not lease.others_work("w1")
    expire(run)
    assert not lease.others_work("w2")
    lease.release(claim)
    assert not lease.others_work("w2")


def open_turn(claim: lease.Claim, run: Run, attempt: int = 1) -> None:
    turn = run.turns.order_by("-number").first()
    assert turn is not None
    frame = ev.Frame(sha256=turn.frame_id, llm=run.llm, system=(), tools=(), params={}, render=1)
    opened = ev.TurnOpened(
        turn=turn.number + 1,
        attempt=attempt,
        frame=frame,
        version=1,
        upto=1,
        estimate=1,
        request_sha256="0" * 64,
    )
    archive.append(claim, opened)


def test_a_crash_inside_a_turn_counts(run: Run) -> None:
    first = claimed(run)
    open_turn(first, run)
    expire(run)
    assert claimed(run, "w2").crash_streak == 1
    expire(run)
    assert claimed(run, "w3").crash_streak == 2


def test_a_crash_between_turns_does_not_count(run: Run) -> None:
    claimed(run)
    expire(run)
    assert claimed(run, "w2").crash_streak == 0


def test_a_turn_left_open_by_a_worker_that_gave_the_run_back_does_not_count(run: Run) -> None:
    claim = claimed(run)
    open_turn(claim, run)
    lease.release(claim)
    assert claimed(run, "w2").crash_streak == 0


def test_a_closed_turn_forgets_the_crashes() -> None:
    run = a_run(turns=2, order="")
    Run.objects.filter(pk=run.pk).update(crash_streak=2)
    again = a_run(turns=1, order="")
    assert Run.objects.get(pk=again.pk).crash_streak == 0
    assert Run.objects.get(pk=run.pk).crash_streak == 2


def test_the_only_process_takes_over_everything_at_start(run: Run) -> None:
    stale = claimed(run)
    open_turn(stale, run)
    paused = a_run(turns=1, order="", state="paused")
    assert lease.take_over_all() == [run.pk]
    with pytest.raises(lease.Fenced):
        archive.append(stale, NOTE)
    assert claimed(run, "w2").crash_streak == 1
    assert Run.objects.get(pk=paused.pk).state == "paused"


def test_what_waits_is_seen_by_the_sweeper(run: Run) -> None:
    held = a_run(turns=1, order="")
    idle = a_run(turns=1, order="", state="done")
    asked = a_run(turns=1, order="", state="done")
    an_order(asked, "say")
    assert lease.waiting_runs() == [run.pk, asked.pk]
    expire(held)
    assert held.pk in lease.waiting_runs()
    assert idle.pk not in lease.waiting_runs()


def test_only_the_databases_clock_counts(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed(run)
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert lease.claim(run.pk, "w2") is None
    assert lease.now_ms() > 1_700_000_000_000
