"""The fleet: every run, who needs a person first, and fresh without a reload."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from runs.models import Run
from tests.builders import a_person, a_run, runs_of_every_state

from .conftest import HTMX, JSON, logged_in


def order_of(html: str) -> list[str]:
    return re.findall(r'id="row-(r-[0-9a-z]{5})"', html)


def test_a_newcomer_sees_what_to_do_without_a_key(client: Client) -> None:
    page = client.get("/").content.decode()
    assert "No runs yet" in page
    assert "Start a rehearsal run" in page
    assert "Import" not in page


def test_who_needs_a_person_stands_first_and_what_has_ended_last(client: Client, ada: Any) -> None:
    runs = {run.state: run.slug for run in runs_of_every_state(ada)}
    slugs = order_of(client.get("/").content.decode())
    assert slugs[0] == runs["waiting"]
    assert slugs[1] == runs["failed"]
    assert set(slugs[-2:]) == {runs["done"], runs["stopped"]}


def test_a_row_says_turn_window_compactions_and_cost(client: Client, run: Run) -> None:
    page = client.get("/").content.decode()
    assert f"{run.turn_no}" in page
    assert "of the window" not in page
    assert f"{run.sums['compactions']} compactions, {run.sums['clearings']} clearings" in page
    assert 'class="spark"' in page
    assert page.count('<line class="cut"') == run.sums["compactions"]


def test_a_sparkline_has_at_most_a_hundred_points(client: Client, ada: Any) -> None:
    a_run(ada, turns=230, order="")
    line = re.search(r'<polyline class="line" points="([^"]+)"', client.get("/").content.decode())
    assert line
    assert 50 <= len(line[1].split()) <= 101


def test_the_list_can_be_narrowed_by_state_and_by_words(client: Client, ada: Any) -> None:
    runs = {run.state: run.slug for run in runs_of_every_state(ada)}
    assert order_of(client.get("/?group=failed").content.decode()) == [runs["failed"]]
    assert order_of(client.get(f"/?q={runs['paused']}").content.decode()) == [runs["paused"]]
    assert "No run matches" in client.get("/?q=nothing-like-this").content.decode()


def test_a_page_that_is_up_to_date_gets_no_body(client: Client, run: Run) -> None:
    page = client.get("/").content.decode()
    version = re.search(r'id="fleet" data-version="([^"]+)"', page)
    assert version
    assert client.get(f"/?seen={version[1]}", **HTMX).status_code == 204
    fresh = client.get("/?seen=older", **HTMX)
    assert fresh.status_code == 200
    assert "<html" not in fresh.content.decode()


def test_zoe_does_not_see_adas_runs(client: Client, run: Run) -> None:
    zoe = logged_in(a_person("zoe"))
    assert run.slug not in zoe.get("/").content.decode()
    assert zoe.get("/", **JSON).json() == []


def test_the_json_twin_lists_runs_as_scripts_know_them(client: Client, run: Run) -> None:
    (row,) = client.get("/", **JSON).json()
    assert row["run"] == run.slug
    assert row["url"].endswith(f"/runs/{run.slug}/")
    assert {"state", "reason", "turns", "compactions", "clearings", "offloads", "seconds"} <= row.keys()
    assert row["tokens"].keys() == {"input", "output", "cache_read", "cache_write"}
    assert row["window"].keys() == {"limit", "max", "final"}
    assert row["cost_usd"] > 0
