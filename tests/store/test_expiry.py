"""An order to a run that no worker has looked at for a quarter of an hour is answered as expired."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runs.models import Event, Order, Run
from runs.store import expiry, lease, sql
from runs.store.verify import verify
from tests.builders import a_run, an_order

pytestmark = pytest.mark.django_db


def sixteen_minutes_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    real = sql.now
    monkeypatch.setattr(sql, "now", lambda: real() + timedelta(minutes=16))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    sixteen_minutes_pass(monkeypatch)


@pytest.fixture
def run() -> Run:
    made = a_run(turns=2, order="", state="paused")
    Run.objects.filter(pk=made.pk).update(lease_owner="", lease_until_ms=None)
    an_order(made, "stop")
    return made


def test_it_expires_with_a_reason_and_an_event(run: Run, later: None) -> None:
    order = Order.objects.get(run=run, state="pending")
    assert expiry.expire_orders("sweeper") == [order.pk]
    order.refresh_from_db()
    assert (order.state, order.reason) == ("expired", expiry.WHY)
    last = Event.objects.filter(run=run, kind="order.answered").order_by("-seq")[0]
    assert last.data["order"] == order.pk
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == ("paused", "")
    assert verify(run).ok


def test_before_that_it_waits(run: Run) -> None:
    assert expiry.expire_orders("sweeper") == []


def test_a_run_that_somebody_holds_is_not_dead(run: Run, later: None) -> None:
    assert lease.claim(run.pk, "w1", any_state=True)
    assert expiry.expire_orders("sweeper") == []


def test_what_waits_for_a_persons_word_on_a_call_does_not_expire(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.filter(pk=run.pk).update(state="waiting", reason="approval: run_command asks first.")
    an_order(run, "compact")
    sixteen_minutes_pass(monkeypatch)
    assert [Order.objects.get(pk=pk).kind for pk in expiry.expire_orders("sweeper")] == ["stop"]
