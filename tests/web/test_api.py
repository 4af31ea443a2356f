"""JSON twins, health, and what an address without a page says."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import Client

from runs.models import Event, Run

from .conftest import JSON


def test_a_run_is_shown_with_its_goal_and_the_orders_that_wait(client: Client, run: Run) -> None:
    found = client.get(f"/runs/{run.slug}/", **JSON).json()
    assert found["run"] == run.slug
    assert found["goal"] == run.goal
    assert [order["kind"] for order in found["pending_orders"]] == ["compact"]
    assert found["pending_orders"][0].keys() == {"order", "kind", "state", "applied_seq", "reason"}


def test_events_come_in_order_after_a_seq_and_never_more_than_one_portion(client: Client, run: Run) -> None:
    every = client.get(f"/runs/{run.slug}/events/", **JSON).json()
    assert [row["seq"] for row in every] == list(
        range(1, min(Event.objects.filter(run=run).count(), 500) + 1)
    )
    assert every[0].keys() == {"seq", "kind", "turn", "at", "data", "hash"}
    assert every[0]["at"].endswith("Z")
    later = client.get(f"/runs/{run.slug}/events/?after=40", **JSON).json()
    assert later[0]["seq"] == 41
    assert client.get(f"/runs/{run.slug}/events/?after=nonsense", **JSON).json()[0]["seq"] == 1


def test_an_unknown_run_is_404_with_its_name(client: Client) -> None:
    page = client.get("/runs/r-00000/archive/")
    assert page.status_code == 404
    assert "There is no run r-00000" in page.content.decode()
    answer = client.get("/runs/r-00000/", **JSON)
    assert answer.status_code == 404
    assert answer.json() == {"error": "There is no run r-00000."}


def test_an_address_that_is_none_is_404_in_style(client: Client) -> None:
    page = client.get("/nowhere/at/all")
    assert page.status_code == 404
    assert "topbar" in page.content.decode()


def test_something_that_broke_says_so_without_its_insides(
    client: Client, run: Run, monkeypatch: object
) -> None:
    client.raise_request_exception = False
    Run.objects.filter(pk=run.pk).update(policy={"window": {"mark": "secret-in-a-trace"}})
    page = client.get("/")
    assert page.status_code == 500
    assert "nothing that was committed is lost" in page.content.decode()
    assert "secret-in-a-trace" not in page.content.decode()


def test_health_is_open_to_all_and_says_nothing_of_runs(db: None) -> None:
    answer = Client().get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True}


def test_pages_are_closed_without_a_session(run: Run) -> None:
    stranger = Client()
    for path in ("/", f"/runs/{run.slug}/archive/", "/search/?q=x", f"/runs/{run.slug}/window/"):
        assert stranger.get(path).status_code == 302
        assert stranger.get(path, **JSON).status_code == 401


def test_a_database_that_is_away_is_503_and_worth_another_try(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    client.raise_request_exception = False
    monkeypatch.setattr("runs.web.fleet.read", away)
    page = client.get("/")
    assert page.status_code == 503
    assert "Try again" in page.content.decode()
    assert client.get("/", headers={"accept": "text/html"}).status_code == 503


def test_a_form_that_is_out_of_date_is_refused_in_style(run: Run) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(run.owner)
    page = strict.post("/runs/", {"llm": "rehearsal"})
    assert page.status_code == 403
    assert "Nothing was changed" in page.content.decode()


def test_the_list_of_runs_is_the_fleet(client: Client) -> None:
    answer = client.get("/runs/")
    assert answer.status_code == 302
    assert answer["Location"] == "/"
