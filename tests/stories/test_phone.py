"""Blas on the bus: the whole cockpit on a phone, with one thumb."""

from __future__ import annotations

import re
from typing import Any

import pytest

from runs.models import Order, Run
from tests.conftest import wait_until
from tests.living import In, LiveHouse, expect

from .telling import begin, path, until
from .wire import Wire

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
BOXES = """(all) => all.filter((one) => one.checkVisibility()).map((one) => {
  const { left, top, right, bottom } = one.getBoundingClientRect();
  return [one.textContent.trim(), left, top, right, bottom]; })"""


def boxes(page: In, selector: str) -> list[list[Any]]:
    found: list[list[Any]] = page.locator(selector).evaluate_all(BOXES)
    return found


def overlapping(found: list[list[Any]]) -> list[tuple[Any, Any]]:
    return [
        (one[0], two[0])
        for at, one in enumerate(found)
        for two in found[at + 1 :]
        if one[1] < two[3] - 1 and two[1] < one[3] - 1 and one[2] < two[4] - 1 and two[2] < one[4] - 1
    ]


@pytest.mark.parametrize(
    "rest", ["", "?turn=20", "?tab=log", "archive/", "archive/?q=race", "window/?turn=40", "compactions/5/"]
)
def test_no_page_of_a_run_is_wider_than_the_phone(finished: Run, house: LiveHouse, rest: str) -> None:
    blas = house.page(path(finished, rest), **PHONE)
    assert blas.evaluate("document.scrollingElement.scrollWidth") <= 390


@pytest.mark.parametrize("where", ["/", "/runs/new/", "/search/", "/search/?q=reservation", "/nowhere/"])
def test_no_other_page_is_either(finished: Run, house: LiveHouse, where: str) -> None:
    blas = house.page(where, **PHONE)
    assert blas.evaluate("document.scrollingElement.scrollWidth") <= 390


def test_what_the_thumb_needs_is_within_reach_and_apart(wire: Wire, house: LiveHouse) -> None:
    """Message box, Pause, Stop, Compact, Clear: in view, no two on top of each other, large enough to hit."""
    wire.hold(2)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    blas = house.page(path(run), **PHONE)
    found = boxes(blas, ".steering button, #say .inp")
    assert {word for word in ("Pause", "Stop", "Compact…", "Clear…") if any(word in box[0] for box in found)} == {
        "Pause", "Stop", "Compact…", "Clear…"
    }  # fmt: skip
    assert overlapping(found) == []
    for word, left, top, right, bottom in found:
        assert (left >= 0, right <= 390, bottom <= 844) == (True, True, True), word
        assert bottom - top >= 40, word
    assert blas.locator("#say-text").evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)") >= 16


def test_the_pieces_of_the_run_page_lie_below_each_other(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished), **PHONE)
    found = boxes(blas, "#vitals, #banner, .chart, #tabs, .feed, .steering")
    assert len(found) == 6
    assert overlapping(found) == []


def test_a_tap_pauses_and_a_tap_resumes(wire: Wire, house: LiveHouse) -> None:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    blas = house.page(path(run), **PHONE)
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    blas.locator("#controls").get_by_role("button", name=re.compile("^Pause")).tap()
    expect(blas.locator("#chips")).to_contain_text("Pause")
    wire.hold(2)
    until(run, "paused")
    blas.locator("#controls").get_by_role("button", name=re.compile("^Resume")).tap()
    wait_until(lambda: wire.holds(2), 60, "the second turn")


def test_compact_opens_a_dialog_that_fits(wire: Wire, house: LiveHouse) -> None:
    wire.hold(9)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(9), 60, "the ninth turn")
    blas = house.page(path(run), **PHONE)
    blas.get_by_role("button", name=re.compile("Compact…")).tap()
    dialog = blas.locator("#dialog")
    expect(dialog).to_be_visible()
    _, left, top, right, bottom = boxes(blas, "#dialog")[0]
    assert (left >= 0, top >= 0, right <= 390, bottom <= 844) == (True, True, True, True)
    dialog.get_by_label("Keep the most recent").fill("2")
    dialog.get_by_role("button", name=re.compile("Compact now")).tap()
    expect(dialog).to_be_hidden()
    assert Order.objects.get(run=run).kind == "compact"


def test_clear_opens_a_dialog_that_fits(wire: Wire, house: LiveHouse) -> None:
    """Nothing in it is cut off: no part of it is wider than the phone."""
    wire.hold(3)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(3), 60, "the third turn")
    blas = house.page(path(run), **PHONE)
    blas.get_by_role("button", name=re.compile("Clear…")).tap()
    expect(blas.locator("#dialog").get_by_role("button", name="Clear the window")).to_be_visible()
    for word, left, _, right, _ in boxes(
        blas, "#dialog, #dialog p, #dialog a, #dialog button, #dialog section"
    ):
        assert (left >= 0, right <= 390) == (True, True), word


def test_all_hits_of_a_search_can_be_read(finished: Run, house: LiveHouse) -> None:
    blas = house.page("/search/?q=reservation", **PHONE)
    hits = blas.locator("[data-hits] .hit")
    assert hits.count() > 5
    hits.last.scroll_into_view_if_needed()
    expect(hits.last).to_be_in_viewport()
    assert blas.locator("[data-hits]").evaluate("(one) => one.scrollHeight <= one.clientHeight + 1")


def test_notes_and_window_are_a_tap_away(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished), **PHONE)
    blas.get_by_role("tab", name=re.compile("Notes")).tap()
    expect(blas.locator("#panel")).to_contain_text("open of")
    blas.get_by_role("tab", name="Feed").tap()
    expect(blas.locator("#feed-rows > *").last).to_be_visible()
