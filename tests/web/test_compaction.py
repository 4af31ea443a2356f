"""The page of an edit: what left the window, where it went, what it cost."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from runs.engine.events import CompactionFailed, Trigger
from runs.models import Edit, Run
from runs.store.archive import append
from runs.store.lease import claim
from tests.builders import a_person

from .conftest import HTMX, JSON, logged_in


def newest(run: Run, kind: str) -> Edit:
    return Edit.objects.filter(run=run, kind=kind).order_by("number").last() or pytest.fail(f"no {kind}")


def test_every_entry_of_both_windows_is_explained_and_the_sums_are_the_totals(
    client: Client, run: Run
) -> None:
    for edit in Edit.objects.filter(run=run):
        found = client.get(f"/runs/{run.slug}/compactions/{edit.number}/", **JSON).json()
        assert sum(one["tokens_before"] for one in found["sums"].values()) == edit.tokens_before
        assert sum(one["tokens_after"] for one in found["sums"].values()) == edit.tokens_after
        assert len({entry["name"] for entry in found["entries"]}) == len(found["entries"])
        assert sum(one["entries"] for one in found["sums"].values()) == len(found["entries"])


def test_a_compaction_says_what_was_folded_and_shows_its_summary(client: Client, run: Run) -> None:
    edit = newest(run, "compact")
    page = client.get(f"/runs/{run.slug}/compactions/{edit.number}/").content.decode()
    assert f"Compaction {edit.episode}" in page
    assert "updated_at" in page
    assert "Ledger" in page
    assert f"{edit.tokens_before:,}" in page
    assert f"{edit.tokens_after:,}" in page
    assert 'class="rb rb-folded"' in page
    assert 'class="freed"' in page


def test_a_clearing_says_that_no_summary_was_written(client: Client, run: Run) -> None:
    edit = newest(run, "clear_results")
    page = client.get(f"/runs/{run.slug}/compactions/{edit.number}/").content.decode()
    assert "Results cleared" in page
    assert "No summary" in page
    assert "Cleared" in page


def test_the_filter_has_a_count_for_each_class(client: Client, run: Run) -> None:
    edit = newest(run, "compact")
    page = client.get(f"/runs/{run.slug}/compactions/{edit.number}/").content.decode()
    found = client.get(f"/runs/{run.slug}/compactions/{edit.number}/", **JSON).json()
    for fate, one in found["sums"].items():
        assert re.search(rf'data-fate="{fate}"[^>]*>[A-Z][a-z-]+ {one["entries"]:,}<', page)


def test_an_entry_that_was_folded_shows_its_text_and_what_the_new_window_lacks(
    client: Client, run: Run
) -> None:
    edit = newest(run, "compact")
    found = client.get(f"/runs/{run.slug}/compactions/{edit.number}/", **JSON).json()
    folded = next(entry for entry in found["entries"] if entry["fate"] == "folded" and entry["turn"] > 0)
    path = f"/runs/{run.slug}/compactions/{edit.number}/entries/{folded['name']}/"
    fragment = client.get(path, **HTMX).content.decode()
    assert 'class="ln gone"' in fragment
    assert f"folded into summary {edit.episode}" in fragment
    assert "<html" not in fragment
    assert "<html" in client.get(path).content.decode()


def test_a_cleared_result_is_compared_with_its_marker(client: Client, run: Run) -> None:
    edit = newest(run, "clear_results")
    found = client.get(f"/runs/{run.slug}/compactions/{edit.number}/", **JSON).json()
    shrunk = max(
        (entry for entry in found["entries"] if entry["fate"] == "cleared"),
        key=lambda entry: entry["tokens_before"],
    )
    path = f"/runs/{run.slug}/compactions/{edit.number}/entries/{shrunk['name']}/"
    fragment = client.get(path, **HTMX).content.decode()
    assert "cleared" in fragment
    assert 'class="ln new"' in fragment


def test_the_fixed_parts_can_be_read_too(client: Client, run: Run) -> None:
    edit = newest(run, "compact")
    base = f"/runs/{run.slug}/compactions/{edit.number}/entries"
    assert "careful engineer" in client.get(f"{base}/system/", **HTMX).content.decode()
    assert "run_command" in client.get(f"{base}/tools/", **HTMX).content.decode()


def test_a_failed_compaction_says_why_and_that_nothing_changed(client: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
    owned = claim(run.pk, "worker-2")
    assert owned is not None
    number = Edit.objects.filter(run=run).count() + 1
    append(
        owned,
        CompactionFailed(
            turn=run.turn_no,
            edit=number,
            method="summary",
            trigger=Trigger.PERSON,
            why="empty summary",
            by="ada",
            tokens_before=14_000,
            cost=1200,
            ms=900,
        ),
    )
    page = client.get(f"/runs/{run.slug}/compactions/{number}/").content.decode()
    assert "failed, window unchanged" in page
    assert "empty summary" in page
    assert "by ada" in page
    assert "Blocks" not in page


def test_what_is_not_there_is_404(client: Client, run: Run) -> None:
    edit = newest(run, "compact")
    assert client.get(f"/runs/{run.slug}/compactions/999/").status_code == 404
    assert client.get(f"/runs/{run.slug}/compactions/{edit.number}/entries/m99999/").status_code == 404
    assert client.get(f"/runs/{run.slug}/compactions/{edit.number}/entries/nonsense/").status_code == 404
    assert logged_in(a_person("zoe")).get(f"/runs/{run.slug}/compactions/{edit.number}/").status_code == 404
