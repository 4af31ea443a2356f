"""Blas reads what an agent did: everything is there, and of each line he learns whether the llm still sees it."""

from __future__ import annotations

import re

from runs.models import Episode, Run
from runs.store.search import Where, find
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path
from .wire import Wire


def test_a_line_that_was_cleared_is_found_and_says_so(wire: Wire, house: LiveHouse) -> None:
    """The result of an early call is a marker in the window now; the archive still has all of it."""
    wire.hold(15)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(15), 90, "the fifteenth turn")
    assert [event.data["kind"] for event in happened(run, "window.edited")][-1] == "clear_results"
    blas = house.page(path(run, "archive/?q=docs%2Frules.md"))
    cleared = blas.locator("[data-hits] .hit", has_text="cleared")
    expect(cleared.first).to_be_visible()
    cleared.first.click()
    expect(blas.locator("[data-lines] .body pre").first).to_be_visible()


def test_after_the_end_a_folded_line_is_found_and_names_its_summary(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished, "archive/"))
    blas.get_by_label("Search this run").fill("nothing suspicious there")
    blas.keyboard.press("Enter")
    hit = blas.locator("[data-hits] .hit").first
    expect(hit).to_contain_text(re.compile(r"summarised in #\d"))
    expect(hit.locator("mark").first).to_have_text(re.compile("nothing", re.IGNORECASE))
    hit.click()
    expect(blas).to_have_url(re.compile(r"turn=18"))
    expect(blas.locator(".here-turn")).to_contain_text("Nothing suspicious there")


def test_the_state_of_each_hit_is_where_the_message_is_now(finished: Run, house: LiveHouse) -> None:
    """The counts over the list and the list itself agree, for every state that occurs."""
    states = {hit.state for hit in find("race", run=finished, limit=200)}
    assert states >= {Where.WINDOW, Where.FOLDED}
    blas = house.page(path(finished, "archive/?q=race"))
    for chip in blas.locator(".states a").all():
        word, count = chip.text_content().rsplit(" ", 1)
        other = house.page(path(finished, "archive/") + chip.get_attribute("href"))
        expect(other.locator("[data-hits] .hit")).to_have_count(int(count))
        assert word in ("All", "In window", "Summarised", "Cleared", "Offloaded", "Dropped")


def test_search_reaches_across_runs_and_leads_into_the_right_one(finished: Run, house: LiveHouse) -> None:
    blas = house.page("/")
    blas.keyboard.press("Control+k")
    blas.keyboard.type("settle expired hold")
    blas.keyboard.press("Enter")
    hit = blas.locator("[data-hits] .hit").first
    expect(hit).to_contain_text(finished.slug)
    hit.click()
    expect(blas).to_have_url(re.compile(f"/runs/{finished.slug}/archive/"))


def test_what_nobody_said_is_not_found_and_the_page_says_how_search_works(
    finished: Run, house: LiveHouse
) -> None:
    blas = house.page(path(finished, "archive/?q=zeppelin"))
    expect(blas.locator("[data-hits]")).to_contain_text("No line of this run holds “zeppelin”.")
    blas.goto(house.address + "/search/?q=%22%29%3B--zeppelin+OR+%28")
    expect(blas.locator("[data-hits]")).to_contain_text("No run holds")


def test_the_transcript_is_paged_by_turn_on_the_server(finished: Run, house: LiveHouse) -> None:
    """A page has fifty turns; a turn's address opens the page that holds it, with the turn marked."""
    blas = house.page(path(finished, "archive/"))
    expect(blas.locator(".pager").first).to_contain_text("page 2 of 2")
    assert max(turns_on(blas)) == finished.turn_no
    blas.locator("a[rel=prev]").first.click()
    expect(blas.locator(".pager").first).to_contain_text("page 1 of 2")
    shown = turns_on(blas)
    assert (min(shown), len(shown)) == (1, 50)
    blas.goto(house.address + path(finished, "archive/?turn=70"))
    expect(blas.locator('.here-turn[data-turn="70"]')).to_be_in_viewport()


def turns_on(page: object) -> set[int]:
    found = page.locator("[data-lines] [data-turn]").evaluate_all(
        "(all) => all.map((one) => one.dataset.turn)"
    )  # type: ignore[attr-defined]
    return {int(turn) for turn in found if int(turn)}


def test_epochs_are_the_stretches_between_compactions(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished, "archive/"))
    epochs = blas.locator(".epoch-list li")
    expect(epochs).to_have_count(Episode.objects.filter(run=finished).count() + 1)
    epochs.last.click()
    expect(blas).to_have_url(re.compile(r"\?turn=\d+$"))


def test_the_record_can_be_checked_from_the_page(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished, "archive/"))
    blas.get_by_role("link", name="Check that it is intact").click()
    expect(blas.get_by_role("status")).to_contain_text(
        f"{finished.next_seq - 1:,} events, hash chain checked"
    )
