"""Each turn says what it read from the cache and, when that fell, why: on the page and in its JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs.models import Edit, Run, Turn
from runs.present import archive_window, chart
from runs.runner.warm import Warm
from tests.web.conftest import JSON, logged_in

from .conftest import Walk

Begin = Callable[..., Run]


@pytest.fixture
def edited(begin: Begin, walk: Walk) -> Run:
    """A run whose window was edited on the way."""
    run = walk(begin("rehearsal/job-14", policy="demo"))
    assert run.state == "done"
    return run


def test_only_the_turn_after_an_edit_tells_a_miss_and_names_the_message(edited: Run) -> None:
    misses = dict(Turn.objects.filter(run=edited).exclude(cache_miss="").values_list("number", "cache_miss"))
    edits = set(Edit.objects.filter(run=edited, state="applied").values_list("turn", flat=True))
    assert misses.keys() == edits
    assert edits
    assert all(why.startswith("the window was edited: message ") for why in misses.values())
    assert chart.columns(edited)["misses"] == misses


def test_the_page_and_the_json_of_a_turn_tell_it(edited: Run) -> None:
    turn = Turn.objects.filter(run=edited).exclude(cache_miss="").first()
    assert turn is not None
    client = logged_in(edited.owner)
    told: dict[str, Any] = client.get(f"/runs/{edited.slug}/window/?turn={turn.number}", **JSON).json()[
        "cache"
    ]
    assert told == {
        "read": turn.usage["cache_read"],
        "share": chart.cache_share(turn),
        "miss": turn.cache_miss,
    }
    page = client.get(f"/runs/{edited.slug}/window/?turn={turn.number}").content.decode()
    assert "read from the cache" in page
    assert turn.cache_miss in page
    table = client.get(f"/runs/{edited.slug}/parts/table/").content.decode()
    assert f"cache fell: {turn.cache_miss}" in table


def test_a_worker_that_takes_the_run_up_knows_what_was_sent_before(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every slice by a worker that has never seen the run: nothing is missed, and nothing is told as missed."""
    monkeypatch.setattr(Warm, "take", lambda self, claim: None)
    monkeypatch.setattr("runs.runner.slice.TURNS", 1)
    run = walk(begin("rehearsal/job-8"), slices=30)
    assert run.state == "done"
    assert set(Turn.objects.filter(run=run).values_list("cache_miss", flat=True)) == {""}


def test_a_window_without_an_edit_is_told_with_its_share(begin: Begin, walk: Walk) -> None:
    run = walk(begin())
    assert archive_window.window(run, 3)["cache"]["miss"] == ""
