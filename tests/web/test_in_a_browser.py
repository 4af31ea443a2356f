"""What these pages do in a browser: keys, focus, estimates at once, and no word of the content security policy."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentdash.door import local
from runs.models import Edit, Order, Run
from tests.builders import a_run, an_order
from tests.conftest import wait_until
from tests.living import LiveHouse, expect


@pytest.fixture
def rested(db: None) -> Run:
    """A run that no worker takes up."""
    return a_run(local(), turns=40, state="paused", reason="ada", order="")


def newest(run: Run, kind: str) -> Edit:
    edit = Edit.objects.filter(run=run, kind=kind).order_by("number").last()
    assert edit is not None
    return edit


def test_the_fleet_follows_its_runs_and_leaves_the_focus_where_it_is(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page("/")
    page.keyboard.press("j")
    link = page.locator(f"#open-{rested.slug}")
    expect(link).to_be_focused()
    other = a_run(local(), turns=8, state="waiting", reason="llm: 401 the key is not valid", order="")
    expect(page.locator(f"#row-{other.slug}")).to_be_visible()
    expect(page.locator("#fleet-groups")).to_contain_text("Needs you 1")
    expect(link).to_be_focused()


def test_a_row_that_changed_is_swapped_and_the_others_stay_the_same_elements(
    live_house: LiveHouse, rested: Run
) -> None:
    quiet = a_run(local(), turns=8, state="done", order="")
    page = live_house.page("/")
    page.evaluate("id => { document.getElementById(id).mark = true }", f"row-{quiet.slug}")
    before = page.locator(f"#row-{rested.slug}").get_attribute("data-version")
    an_order(rested, "say", args={"text": "hello"})
    changed = re.compile(rf"^(?!{before}$)")
    expect(page.locator(f"#row-{rested.slug}")).to_have_attribute("data-version", changed)
    assert page.evaluate("id => document.getElementById(id).mark", f"row-{quiet.slug}")


def test_a_new_run_is_refused_next_to_the_field_and_the_focus_is_there(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page("/")
    page.keyboard.press("n")
    expect(page.locator("#dialog")).to_be_visible()
    expect(page.locator("#nr-goal")).to_be_hidden()
    page.locator("#nr-llm").fill("claude-haiku-4-5")
    expect(page.locator("#nr-goal")).to_be_visible()
    page.locator("#nr-limit").fill("many")
    page.locator(".new-run .btn.primary").click()
    expect(page.locator("#nr-limit-why")).to_contain_text("whole number")
    expect(page.locator("#nr-limit")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    assert Run.objects.count() == 1


def test_the_estimate_follows_every_change_without_asking_the_server(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/dialogs/compact/")
    after = page.locator("[data-slot=after]")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    shown = {after.inner_text()}
    for method in ("clear", "both"):
        page.locator(f"input[value={method}]").check()
        shown.add(after.inner_text())
    page.locator("#keep").fill("0")
    expect(page.locator("[data-slot=keep]")).to_have_text("0 messages")
    assert len(shown) == 3
    assert [address for address in asked if "/runs/" in address] == []


def test_compact_from_the_run_page_becomes_an_order_and_the_dialog_closes(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/")
    page.locator("[data-dialog=compact]").click()
    page.locator("#dialog input[value=both]").check()
    page.locator("#instructions").fill("Keep the numbers.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#dialog")).to_be_hidden()
    order = wait_until(lambda: Order.objects.filter(run=rested).first(), what="the order")
    assert (order.kind, order.args["method"], order.args["instructions"]) == (
        "compact",
        "both",
        "Keep the numbers.",
    )
    wait_until(lambda: Order.objects.get(pk=order.pk).state != "pending", what="its answer")


def test_clear_starts_on_cancel_and_escape_leaves_everything_as_it_is(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/")
    page.locator("[data-dialog=clear]").click()
    expect(page.locator("#dialog .btn", has_text="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    assert not Order.objects.filter(run=rested).exists()


def test_one_diff_is_open_at_a_time_and_escape_closes_it(live_house: LiveHouse, rested: Run) -> None:
    page = live_house.page(f"/runs/{rested.slug}/compactions/{newest(rested, 'compact').number}/")
    rows = page.locator(".block-list .br")
    rows.nth(6).click()
    expect(page.locator(".df:visible .ln.gone").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(rows.nth(7)).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".br[aria-expanded=true]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".br[aria-expanded=true]")).to_have_count(0)
    expect(rows.nth(7)).to_be_focused()


def test_a_block_of_the_map_and_its_line_of_the_list_light_up_together(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/compactions/{newest(rested, 'compact').number}/")
    folded = page.locator(".block-list li[data-fate=folded]").last
    folded.hover()
    key = folded.get_attribute("data-key")
    expect(page.locator(f".map .before .bk.on[data-keys~='{key}']")).to_have_count(1)
    expect(page.locator(".map .rb.on")).not_to_have_count(0)


def test_the_filter_shows_one_class_and_its_count_is_true(live_house: LiveHouse, rested: Run) -> None:
    page = live_house.page(f"/runs/{rested.slug}/compactions/{newest(rested, 'compact').number}/")
    chip = page.locator(".pick[data-fate=folded]")
    chip.click()
    shown = page.locator(".block-list li:visible")
    expect(shown).to_have_count(int(chip.inner_text().split()[-1]))
    assert shown.evaluate_all("rows => rows.every((row) => row.dataset.fate === 'folded')")


def test_the_next_hit_opens_at_its_place_and_what_was_searched_stands_out(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/archive/?q=cursor")
    page.keyboard.press("n")
    expect(page.locator(".hit[aria-current]")).to_have_count(1)
    expect(page.locator(".here-turn").first).to_be_in_viewport()
    wait_until(lambda: page.evaluate("CSS.highlights.get('hit')?.size > 0"), what="the marks")


def test_the_keys_lead_from_the_transcript_to_the_model_view_and_back(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/archive/?turn=20")
    page.keyboard.press("m")
    page.wait_for_url(re.compile(r"/window/\?turn=20$"))
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"/window/\?turn=21$"))
    page.locator("#p-2 summary").click()
    expect(page.locator("#p-2 .whole")).to_contain_text("The nightly export")
    page.keyboard.press("m")
    page.wait_for_url(re.compile(r"/archive/\?turn=21$"))


def test_the_archive_is_checked_on_demand(live_house: LiveHouse, rested: Run) -> None:
    page = live_house.page(f"/runs/{rested.slug}/archive/")
    page.locator("#intact a").click()
    expect(page.locator("#intact")).to_contain_text("hash chain checked")


@pytest.mark.parametrize("width", [1440, 1180, 390])
def test_no_page_is_wider_than_its_screen(live_house: LiveHouse, rested: Run, width: int) -> None:
    edit = newest(rested, "compact").number
    page: Any = live_house.page("/", viewport={"width": width, "height": 844})
    for path in (
        "/",
        "/?view=cards",
        "/runs/new/",
        f"/runs/{rested.slug}/dialogs/compact/",
        f"/runs/{rested.slug}/dialogs/clear/",
        f"/runs/{rested.slug}/compactions/{edit}/",
        f"/runs/{rested.slug}/archive/?q=cursor",
        f"/runs/{rested.slug}/window/?turn=12",
        "/search/?q=cursor",
        "/nowhere",
    ):
        page.goto(live_house.address + path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_the_fleet_says_when_the_server_is_gone_and_when_it_is_back(
    live_house: LiveHouse, rested: Run
) -> None:
    context = live_house.context()
    page = context.new_page()
    page.goto(live_house.address)
    expect(page.locator("#fleet-live")).to_have_text("Live")
    context.set_offline(True)
    expect(page.locator("#fleet-live")).to_have_text("Reconnecting")
    context.set_offline(False)
    expect(page.locator("#fleet-live")).to_have_text("Live")


def test_each_page_lists_its_keys_and_single_keys_can_be_switched_off(
    live_house: LiveHouse, rested: Run
) -> None:
    page = live_house.page(f"/runs/{rested.slug}/archive/?turn=20")
    page.keyboard.press("?")
    expect(page.locator("#page-keys")).to_contain_text("next, previous hit")
    page.locator("#page-keys input").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.locator("#page-keys").wait_for(state="hidden")
    assert "/archive/" in page.url
