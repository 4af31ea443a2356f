"""Ada starts the rehearsal, opens its page, and sees within seconds how it goes; Blas sees the same."""

from __future__ import annotations

import re

from runs.models import Run
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until, until_turn
from .wire import Wire

SOON = 5_000


def test_the_agent_types_within_five_seconds_of_the_page_opening(house: LiveHouse) -> None:
    """At a human pace, words appear letter by letter before their turn has landed in the archive."""
    run = begin("rehearsal", policy="demo", pace="human")
    ada = house.page(path(run))
    expect(ada.locator("#typing")).to_have_text(re.compile(r"\w+ \w+"), timeout=SOON)
    expect(ada.locator("#live")).to_have_attribute("data-state", "live")
    until_turn(run, 1)
    expect(ada.locator('#feed-rows [data-turn="1"]').first).to_be_visible()


def test_typing_is_in_its_place_once_and_only_until_the_turn_lands(house: LiveHouse, wire: Wire) -> None:
    wire.hold(turn=1)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    expect(ada.locator("#live")).to_have_attribute("data-state", "live")
    wire.hold(turn=2)
    wait_until(lambda: wire.holds(2), what="turn 2 to begin")
    expect(ada.locator("#typing")).to_contain_text("Written.")
    wire.release()
    until(run, "done")
    expect(ada.locator("#typing")).to_be_empty()
    expect(ada.locator("#feed-rows").get_by_text("Now I run it to see whether it greets.")).to_have_count(1)


def test_compactions_are_marked_while_the_run_goes_on(house: LiveHouse) -> None:
    """Each row says what it freed and leads to its page; the chart has the same number on a flag."""
    run = begin("rehearsal/job-40", policy="demo", limit=16_000)
    ada = house.page(path(run))
    row = ada.locator("#feed-rows .fr", has_text="Compaction 1")
    expect(row).to_be_visible(timeout=60_000)
    expect(row).to_contain_text("→")
    run.refresh_from_db()
    assert run.state == "running"
    expect(row.get_by_role("link", name="Open diff")).to_have_attribute(
        "href", re.compile(r"/compactions/\d+/$")
    )
    expect(ada.locator(".flag, .fold", has_text="1").first).to_be_visible()
    until(run, "done", seconds=90)


def test_two_people_who_watch_see_the_same(house: LiveHouse) -> None:
    run = begin("rehearsal/hello")
    ada, blas = house.page(path(run)), house.page(path(run))
    until(run, "done")
    for page in (ada, blas):
        expect(page.locator("[data-pill]").first).to_have_text("Done")
        expect(page.locator('#feed-rows [data-turn="3"]').first).to_be_visible()
    fresh = rows(house.page(path(run)))
    assert rows(ada) == fresh
    assert rows(blas) == fresh


def test_who_comes_back_from_the_past_misses_nothing_and_sees_nothing_twice(house: LiveHouse) -> None:
    """Blas looks at an early turn while the run goes on, comes back in the middle of it, and stays to the end."""
    run = begin("rehearsal/job-40")
    blas = house.page(path(run))
    wait_until(
        lambda: int(blas.locator("#vitals").get_attribute("data-turn") or 0) >= 3, what="turn 3 on the page"
    )
    for _ in range(3):
        blas.keyboard.press("Home")
        expect(blas.locator("#past")).to_be_visible()
        blas.keyboard.press("End")
        expect(blas.locator("#past")).to_be_hidden()
    until(run, "done", seconds=90)
    expect(blas.locator("#banner")).to_contain_text("Done after 41 turns.")
    assert rows(blas) == rows(house.page(path(run)))


def rows(page: object) -> list[str]:
    return page.locator("#feed-rows > *").evaluate_all("(all) => all.map((row) => row.id + row.textContent)")  # type: ignore[attr-defined]


def test_the_gauge_says_how_full_the_window_is_and_the_legend_of_what(
    finished: Run, house: LiveHouse
) -> None:
    """Ten categories at most, and their numbers add up to the total shown."""
    ada = house.page(path(finished))
    meter = ada.get_by_role("meter", name="Tokens in the window")
    window = finished.sums["window"]
    expect(meter).to_have_attribute("aria-valuenow", str(window["final"]))
    expect(meter).to_have_attribute("aria-valuemax", str(window["limit"]))
    titles = meter.locator("rect title").all_text_contents()
    assert sum(int(re.findall(r"[\d,]+", title)[0].replace(",", "")) for title in titles) == window["final"]
    legend = ada.locator("#legend li:visible").all_text_contents()
    assert [entry.split()[0] for entry in legend][:2] == ["System", "Tools"]


def test_a_click_on_the_chart_looks_at_a_past_turn_and_the_address_says_so(
    finished: Run, house: LiveHouse
) -> None:
    """The feed then says of each entry whether it was in the window of that turn."""
    ada = house.page(path(finished))
    plot = ada.locator("#plot .u-over")
    box = plot.bounding_box()
    ada.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.7)
    expect(ada).to_have_url(re.compile(r"\?turn=\d+$"))
    turn = ada.url.rpartition("=")[2]
    expect(ada.locator("#past")).to_contain_text(f"You are looking at turn {turn}.")
    expect(ada.locator("#feed-question")).to_contain_text(f"in the window at {turn}?")
    expect(ada.locator("#panel")).to_contain_text(f"As of turn {turn}")


def test_a_copied_address_opens_the_same_turn_and_back_to_live_leaves_it(
    finished: Run, house: LiveHouse
) -> None:
    blas = house.page(path(finished, "?turn=20&tab=notes"))
    expect(blas.locator("#past")).to_contain_text("turn 20")
    expect(blas.get_by_role("tab", name=re.compile("Notes"))).to_have_attribute("aria-selected", "true")
    blas.get_by_role("link", name="Back to live").click()
    expect(blas.locator("#past")).to_be_hidden()
    expect(blas).to_have_url(re.compile(r"/\?tab=notes$"))
    blas.go_back()
    expect(blas.locator("#past")).to_contain_text("turn 20")


def test_the_chart_has_a_table_for_who_cannot_see_it(finished: Run, house: LiveHouse) -> None:
    """A row a turn, and each row's parts add up to its tokens."""
    ada = house.page(path(finished))
    ada.get_by_role("button", name="Show as a table").click()
    table = ada.locator("#chart-table table")
    expect(table).to_be_visible()
    expect(table.locator("tbody tr")).to_have_count(finished.turn_no)


def test_the_log_says_what_was_decided_and_what_was_not(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished, "?tab=log"))
    expect(ada.locator("#panel")).to_contain_text("none fired")
    assert happened(finished, "window.checked")


def test_nothing_of_the_past_is_cut_off_at_the_edge(finished: Run, house: LiveHouse) -> None:
    """The list of the window fits beside the feed, on a laptop as on a large screen."""
    for width in (1440, 1180):
        ada = house.page(path(finished, "?turn=20"), viewport={"width": width, "height": 800})
        expect(ada.locator("#entries")).to_be_visible()
        shown = ada.locator("#panel :is(li, .num, button, .panel-foot a)")
        rights = shown.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().right)")
        assert max(rights) <= width


def test_each_episode_says_in_its_first_words_what_it_holds(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished, "?tab=episodes"))
    for summary in ada.locator("#panel .summary-text > summary").all_text_contents():
        assert summary
        assert not summary.startswith("#")
