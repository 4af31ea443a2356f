"""The whole run, page by page, and search that says where each line stands now."""

from __future__ import annotations

import re

from django.test import Client

from runs.models import Event, Message, Run
from tests.builders import a_person, a_run

from .conftest import JSON, logged_in


def turns_on(page: str) -> set[int]:
    return {int(turn) for turn in re.findall(r'data-turn="(\d+)"', page.split('class="lines"')[1])} - {0}


def test_the_archive_pages_by_turn_and_no_turn_is_missing_or_doubled(client: Client, ada: object) -> None:
    long = a_run(ada, turns=120, order="")
    seen: list[int] = []
    ids: list[str] = []
    for number in (1, 2, 3):
        page = client.get(f"/runs/{long.slug}/archive/?page={number}").content.decode()
        seen += sorted(turns_on(page))
        ids += re.findall(r'id="(e-[^"]+)"', page)
    assert seen == list(range(1, 121))
    assert len(ids) == len(set(ids))


def test_a_turn_in_the_address_opens_the_page_that_holds_it(client: Client, ada: object) -> None:
    long = a_run(ada, turns=120, order="")
    page = client.get(f"/runs/{long.slug}/archive/?turn=61").content.decode()
    assert "turns 51–100, page 2 of 3" in page
    assert 61 in turns_on(page)


def test_epochs_have_headings_and_edits_are_rows(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/archive/").content.decode()
    assert page.count('class="epoch"') == run.sums["compactions"] + 1
    assert "Compaction 1" in page
    assert "Old results cleared" in page


def test_each_entry_says_where_it_stands(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/archive/").content.decode()
    assert "summarised in #1" in page
    assert "in window" in page


def test_a_search_finds_a_line_that_left_the_window_and_says_so(client: Client, run: Run) -> None:
    found = client.get(f"/runs/{run.slug}/archive/?q=bank_format", **JSON).json()
    states = {hit["state"] for hit in found}
    assert "folded" in states
    assert all(hit["run"] == run.slug and hit["snippet"] for hit in found)
    page = client.get(f"/runs/{run.slug}/archive/?q=bank_format").content.decode()
    assert "<mark>bank_format</mark>" in page
    assert "Summarised" in page
    assert 'class="hit-mark"' in page


def test_hits_can_be_narrowed_to_a_state_and_the_counts_stay(client: Client, run: Run) -> None:
    every = client.get(f"/runs/{run.slug}/archive/?q=cursor", **JSON).json()
    folded = client.get(f"/runs/{run.slug}/archive/?q=cursor&state=folded", **JSON).json()
    assert {hit["state"] for hit in folded} == {"folded"}
    assert 0 < len(folded) < len(every)
    page = client.get(f"/runs/{run.slug}/archive/?q=cursor&state=folded").content.decode()
    assert f"All {len(every)}" in page


def test_a_search_without_a_hit_says_what_would_match(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/archive/?q=quetzalcoatl").content.decode()
    assert "No line of this run holds" in page


def test_the_original_of_a_message_is_there_word_for_word(client: Client, run: Run) -> None:
    number = (
        Message.objects.filter(run=run, kind="results").order_by("number").values_list("number", flat=True)[0]
    )
    page = client.get(f"/runs/{run.slug}/archive/messages/{number}/").content.decode()
    assert "bank_format.py" in page
    assert client.get(f"/runs/{run.slug}/archive/messages/9999/").status_code == 404


def test_the_archive_is_checked_when_asked(client: Client, run: Run) -> None:
    events = Event.objects.filter(run=run).count()
    assert (
        f"{events} events, hash chain checked"
        in client.get(f"/runs/{run.slug}/archive/intact/").content.decode()
    )
    answer = client.get(f"/runs/{run.slug}/archive/intact/", **JSON).json()
    assert answer == {"run": run.slug, "ok": True, "events": events, "first_bad": None}


def test_a_run_that_has_not_begun_has_an_archive_too(client: Client, ada: object) -> None:
    young = a_run(ada, turns=0, order="")
    page = client.get(f"/runs/{young.slug}/archive/")
    assert page.status_code == 200
    assert "Invoices" in page.content.decode()


def test_search_over_all_runs_names_the_run_and_links_to_the_hit(client: Client, run: Run) -> None:
    page = client.get("/search/?q=bank_format").content.decode()
    assert run.title in page
    assert f"/runs/{run.slug}/archive/?q=bank_format" in page
    assert {hit["run"] for hit in client.get("/search/?q=bank_format", **JSON).json()} == {run.slug}


def test_zoe_finds_nothing_of_adas(run: Run) -> None:
    zoe = logged_in(a_person("zoe"))
    assert zoe.get("/search/?q=bank_format", **JSON).json() == []
    for path in (
        "archive/",
        "archive/intact/",
        "window/",
        "window/request.json",
        "events/",
        "dialogs/compact/",
    ):
        assert zoe.get(f"/runs/{run.slug}/{path}").status_code == 404
