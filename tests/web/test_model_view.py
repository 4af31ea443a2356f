"""What the llm received at a turn: the bytes, their hash, and every block of them."""

from __future__ import annotations

import hashlib
import json
import re

from django.test import Client

from runs.models import Run, Turn
from tests.builders import a_run

from .conftest import HTMX, JSON


def test_the_body_of_every_turn_has_the_hash_that_was_stored(client: Client, run: Run) -> None:
    for turn in Turn.objects.filter(run=run, status="closed"):
        answer = client.get(f"/runs/{run.slug}/window/request.json?turn={turn.number}")
        assert hashlib.sha256(answer.content).hexdigest() == turn.request_sha256
        assert "attachment" in answer["Content-Disposition"]


def test_the_page_lists_every_block_of_the_body_once(client: Client, run: Run) -> None:
    body = json.loads(client.get(f"/runs/{run.slug}/window/request.json?turn=12").content)
    page = client.get(f"/runs/{run.slug}/window/?turn=12").content.decode()
    blocks = sum(len(message["content"]) for message in body["messages"]) + len(body["system"]) + 1
    assert len(re.findall(r'id="p-\d+"', page)) == blocks
    assert f"{len(body['messages'])} messages" in page
    assert "is the one stored when it was sent" in page


def test_cache_marks_markers_and_the_summary_are_named(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/window/?turn=29").content.decode()
    assert page.count("A cache mark") == 4
    assert "Summary, turns 1" in page
    clearing = run.edits.filter(kind="clear_results").order_by("number").first()
    after = client.get(f"/runs/{run.slug}/window/?turn={clearing.turn}").content.decode()
    assert "marker</span>" in after


def test_a_block_opens_with_its_whole_text(client: Client, run: Run) -> None:
    fragment = client.get(f"/runs/{run.slug}/window/?turn=12&block=2", **HTMX).content.decode()
    assert "The nightly export writes some invoices twice" in fragment
    assert client.get(f"/runs/{run.slug}/window/?turn=12&block=4000", **HTMX).status_code == 404


def test_as_json_the_raw_request_is_shown(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.slug}/window/?turn=12&as=json").content.decode()
    assert "&quot;messages&quot;" in page


def test_the_json_twin_lists_entries_as_scripts_know_them(client: Client, run: Run) -> None:
    found = client.get(f"/runs/{run.slug}/window/?turn=12", **JSON).json()
    keys = {"run", "turn", "version", "tokens", "limit", "estimated", "parts", "entries", "request_sha256"}
    keys |= {"cache"}
    assert found.keys() == keys
    entry = found["entries"][0]
    assert entry.keys() == {"n", "message", "turn", "role", "author", "form", "tokens", "pinned", "episode"}
    assert [one["n"] for one in found["entries"]] == list(range(1, len(found["entries"]) + 1))
    assert list(found["parts"]) == [
        *("system", "tools", "memory", "notes", "episodes"),
        *("person", "assistant", "thinking", "results", "stubs"),
    ]


def test_without_a_turn_it_is_the_newest_window(client: Client, run: Run) -> None:
    assert client.get(f"/runs/{run.slug}/window/", **JSON).json()["turn"] == run.turn_no
    assert "Model view at turn" in client.get(f"/runs/{run.slug}/window/").content.decode()


def test_a_turn_that_never_was_is_404_and_before_the_first_it_says_so(
    client: Client, ada: object, run: Run
) -> None:
    assert client.get(f"/runs/{run.slug}/window/?turn=4000").status_code == 404
    assert client.get(f"/runs/{run.slug}/window/?turn=4000", **JSON).status_code == 404
    assert client.get(f"/runs/{run.slug}/window/request.json?turn=4000").status_code == 404
    young = a_run(ada, turns=0, order="")
    assert "Nothing has been sent" in client.get(f"/runs/{young.slug}/window/").content.decode()
