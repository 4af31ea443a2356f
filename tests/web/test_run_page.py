"""The run page: live and in the past, for those who may see it; and every part that is fetched apart."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client

from runs.engine.events import PARTS
from runs.models import Message, Run
from tests.builders import a_person, a_run

from .conftest import HTMX, JSON, logged_in


def _page(client: Client, run: Run, query: str = "") -> str:
    answer = client.get(f"/runs/{run.slug}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_carries_the_number_of_the_last_event_it_shows(client: Client, run: Run) -> None:
    page = _page(client, run)
    assert f'data-run="{run.slug}" data-seq="{run.next_seq - 1}"' in page


def test_it_says_how_the_run_is(client: Client, run: Run) -> None:
    page = _page(client, run)
    assert 'class="pill run"' in page
    assert run.title in page
    assert f"turn {run.turn_no}" in page
    assert 'role="meter"' in page
    for word in ("Per turn", "Per hour", "From cache", "Input a turn", "In : out"):
        assert word in page


def test_a_pending_order_is_a_chip(client: Client, run: Run) -> None:
    assert "Waiting to be applied" in _page(client, run)


def test_looking_at_the_past_says_so_and_offers_the_way_back(client: Client, run: Run) -> None:
    page = _page(client, run, "?turn=5")
    assert "You are looking at turn <span data-turn>5</span>" in page
    assert "in the window at 5?" in page
    assert "As of turn 5" in page
    assert "Back to live" in page


@pytest.mark.parametrize(
    "query",
    ["?turn=0", "?turn=99999", "?turn=x", "?turn=-3", "?tab=nonsense", "?sort=%00", "?turn=9999999999999"],
)
def test_an_address_that_makes_no_sense_shows_the_present(client: Client, run: Run, query: str) -> None:
    page = _page(client, run, query)
    assert "in the window?" in page
    assert f"As of turn {run.turn_no}" in page


def test_the_address_of_a_turn_leads_to_the_page_at_it(client: Client, run: Run) -> None:
    answer = client.get(f"/runs/{run.slug}/turns/7/")
    assert answer.headers["location"] == f"/runs/{run.slug}/?turn=7"


def test_the_json_twin_is_what_show_prints(client: Client, run: Run) -> None:
    shown = client.get(f"/runs/{run.slug}/", **JSON).json()
    assert (shown["run"], shown["state"]) == (run.slug, "running")


@pytest.mark.parametrize("tab", ["window", "notes", "episodes", "policy", "log"])
def test_each_tab_opens_by_its_address_and_apart(client: Client, run: Run, tab: str) -> None:
    assert f'id="tab-{tab}"' in _page(client, run, f"?tab={tab}")
    part = client.get(f"/runs/{run.slug}/parts/inspector/?tab={tab}", **HTMX)
    assert part.status_code == 200
    assert "<html" not in part.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "?turn=3",
        "chart.json",
        "chart.csv",
        "turns/1/",
        "parts/feed/",
        "parts/table/",
        "parts/inspector/",
        "parts/body/2/0/",
        "compactions/",
    ],
)
def test_nobody_else_sees_any_of_it(run: Run, path: str) -> None:
    zoe = logged_in(a_person("zoe"))
    assert zoe.get(f"/runs/{run.slug}/{path}").status_code == 404


def test_a_run_that_is_not_there_is_not_found(client: Client) -> None:
    assert client.get("/runs/r-zzzzz/").status_code == 404


def test_the_charts_data_is_compact_json(client: Client, run: Run) -> None:
    data = client.get(f"/runs/{run.slug}/chart.json").json()
    assert data["turns"] == list(range(1, run.turn_no + 1))
    assert list(data["parts"]) == list(PARTS)


def test_the_csv_has_a_line_a_turn(client: Client, run: Run) -> None:
    answer = client.get(f"/runs/{run.slug}/chart.csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["turn"] for row in rows] == [str(n) for n in range(1, run.turn_no + 1)]
    assert all(sum(int(row[part]) for part in PARTS) == int(row["tokens"]) for row in rows)


def test_a_row_opens_to_what_was_asked_and_what_came_back(client: Client, run: Run) -> None:
    answer = Message.objects.get(run=run, turn=1, kind="answer")
    thought = client.get(f"/runs/{run.slug}/parts/body/{answer.number}/0/").content.decode()
    assert "The report names only some invoices" in thought
    call = client.get(f"/runs/{run.slug}/parts/body/{answer.number}/2/").content.decode()
    assert "asked" in call
    assert "came back" in call
    assert "bank_format.py" in call


@pytest.mark.parametrize("place", ["99999/0", "2/99"])
def test_a_block_that_is_not_there_is_not_found(client: Client, run: Run, place: str) -> None:
    assert client.get(f"/runs/{run.slug}/parts/body/{place}/").status_code == 404


def test_older_turns_come_on_demand_without_a_gap(client: Client, ada: Any) -> None:
    run = a_run(ada, turns=75)
    page = _page(client, run)
    older = re.search(r'hx-get="([^"]+before=\d+)"', page)
    assert older
    more = client.get(older[1], **HTMX).content.decode()
    shown = {int(n) for n in re.findall(r'id="e-\d+-\d+"[^>]*data-turn="(\d+)"', page + more)}
    assert shown >= set(range(1, 76))
    ids = re.findall(r'id="(e-[^"]+)"', page + more)
    assert len(ids) == len(set(ids))


def test_no_template_of_the_page_styles_or_scripts_inline(client: Client, run: Run) -> None:
    page = _page(client, run, "?turn=9&tab=log")
    assert not re.search(r"<[^>]*\sstyle=", page)
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)


def test_what_later_issues_bring_is_absent(client: Client, run: Run) -> None:
    page = _page(client, run)
    for word in ("Fork", "Undo", "Drop from", "Recall<", "Facts", "Preview draft", "Edit note"):
        assert word not in page


def test_the_newest_compaction_has_an_address_without_a_number(client: Client, run: Run) -> None:
    answer = client.get(f"/runs/{run.slug}/compactions/")
    newest = run.edits.filter(episode__isnull=False).order_by("-number").first()
    assert newest
    assert answer.headers["location"] == f"/runs/{run.slug}/compactions/{newest.number}/"


def test_opening_a_long_run_asks_no_more_than_opening_a_short_one(
    client: Client, ada: Any, django_assert_max_num_queries: Any
) -> None:
    for turns in (8, 80):
        run = a_run(ada, turns=turns)
        with django_assert_max_num_queries(60):
            _page(client, run)


def test_an_ended_run_says_how_it_ended_and_how_it_goes_on(client: Client, ada: Any) -> None:
    run = a_run(ada, turns=6, state="done")
    page = _page(client, run)
    assert f"Done after {run.turn_no} turns." in page
    assert "Write to the agent and it goes on" in page
    failed = a_run(ada, turns=6, state="failed", reason="It broke in turn 6.")
    page = _page(client, failed)
    assert "It broke in turn 6." in page
    assert "Retry" in page
