"""The dialogs that weigh an edit: all choices at once, and nothing that a later issue brings."""

from __future__ import annotations

import html
import json
import re

from django.test import Client

from runs.models import Run
from tests.builders import a_run

from .conftest import HTMX


def table(page: str) -> dict[str, dict[str, object]]:
    found = re.search(r'data-table="([^"]+)"', page)
    assert found
    rows: dict[str, dict[str, object]] = json.loads(html.unescape(found[1]))["rows"]
    return rows


def test_the_compact_dialog_brings_the_estimate_of_every_choice(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/dialogs/compact/", **HTMX).content.decode()
    rows = table(page)
    assert {key.split("-")[0] for key in rows} == {"clear", "summary", "both"}
    words = {"after", "freed", "share", "call", "rewrite", "saves", "pays", "next"}
    assert all(words <= row.keys() and len(row["parts"]) == 10 for row in rows.values())


def test_it_opens_with_the_policys_own_choice_and_says_what_stays(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/dialogs/compact/", **HTMX).content.decode()
    assert re.search(r'value="summary" checked autofocus', page)
    assert "2 messages stay word for word" in page
    assert "Compact now" in page
    assert not re.search(r"draft|undo|provider", page, re.IGNORECASE)


def test_without_js_the_estimate_follows_the_address(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/dialogs/compact/?method=both&keep=2").content.decode()
    assert "<html" in page
    assert re.search(r'value="both" checked', page)
    assert f'<b class="mono" data-slot="after">{table(page)["both-2"]["after"]}</b>' in page


def test_clear_says_how_it_differs_and_starts_on_cancel(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/dialogs/clear/", **HTMX).content.decode()
    assert "compact instead" in page
    assert "No summary is written" in page
    assert re.search(r"data-close autofocus>Cancel", page)
    for line in ("System prompt and tools", "The goal and what you wrote", "Notes", "The summary"):
        assert line in page


def test_before_the_first_turn_there_is_nothing_to_weigh(client: Client, ada: object) -> None:
    young = a_run(ada, turns=0, order="")
    for name in ("compact", "clear"):
        assert "Nothing to" in client.get(f"/runs/{young.slug}/dialogs/{name}/", **HTMX).content.decode()
