"""Ada has a keyboard and no patience: every page and dialog without the mouse."""

from __future__ import annotations

import re

from runs.models import Order, Run
from tests.conftest import wait_until
from tests.living import In, LiveHouse, expect

from .telling import begin, path, until
from .wire import Wire

HAS_FOCUS = "(one) => one.contains(document.activeElement)"


def test_the_arrows_walk_through_the_turns_and_end_is_live(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    ada.keyboard.press("ArrowLeft")
    expect(ada).to_have_url(re.compile(f"turn={finished.turn_no - 1}$"))
    ada.keyboard.press("ArrowLeft")
    expect(ada.locator("#past")).to_contain_text(f"turn {finished.turn_no - 2}")
    ada.keyboard.press("ArrowRight")
    expect(ada).to_have_url(re.compile(f"turn={finished.turn_no - 1}$"))
    ada.keyboard.press("Home")
    expect(ada.locator("#past")).to_contain_text("turn 1.")
    ada.keyboard.press("End")
    expect(ada.locator("#past")).to_be_hidden()


def test_keys_in_one_breath_lead_where_the_last_one_leads(finished: Run, house: LiveHouse) -> None:
    """Home, End, Home, End: the feed, the list of the window and the address all show the present."""
    ada = house.page(path(finished))
    expect(ada.locator("#panel")).to_contain_text(f"As of turn {finished.turn_no}")
    for key in ("Home", "End", "Home", "End"):
        ada.keyboard.press(key)
    expect(ada.locator("#feed-live")).to_be_visible()
    expect(ada.locator(f'#feed-rows [data-turn="{finished.turn_no}"]').first).to_be_in_viewport()
    expect(ada.locator("#panel")).to_contain_text(f"As of turn {finished.turn_no}")
    expect(ada).to_have_url(house.address + path(finished))


def test_brackets_jump_between_compactions_and_escape_leads_back(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    expect(ada.locator("#plot .flag").first).to_be_visible()
    ada.keyboard.press("[")
    expect(ada).to_have_url(re.compile(r"turn=\d+$"))
    last = ada.url
    ada.keyboard.press("[")
    expect(ada).not_to_have_url(last)
    ada.keyboard.press("]")
    expect(ada).to_have_url(last)
    ada.keyboard.press("Escape")
    expect(ada.locator("#past")).to_be_hidden()


def test_g_goes_to_a_turn_t_shows_the_table_and_numbers_open_tabs(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    ada.keyboard.press("g")
    ada.keyboard.type("33")
    ada.keyboard.press("Enter")
    expect(ada).to_have_url(re.compile("turn=33$"))
    ada.keyboard.press("t")
    expect(ada.locator("#chart-table")).to_be_visible()
    ada.keyboard.press("t")
    expect(ada.locator("#chart-table")).to_be_hidden()
    ada.keyboard.press("3")
    expect(ada.get_by_role("tab", name=re.compile("Episodes"))).to_have_attribute("aria-selected", "true")


def test_j_and_k_move_through_entries_and_enter_opens_one(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    ada.keyboard.press("k")
    expect(ada.locator("#feed-rows :focus")).to_have_count(1)
    for _ in range(6):
        if ada.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
        ada.keyboard.press("k")
    ada.keyboard.press("Enter")
    expect(ada.locator("#feed-rows details[open] .body :is(pre, .prose)").first).to_be_visible()


def test_letters_in_the_message_box_are_letters(wire: Wire, house: LiveHouse) -> None:
    """P would pause and C compact, were the box not in focus. Escape leaves it."""
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada.keyboard.press("i")
    ada.keyboard.type("pc? s")
    expect(ada.get_by_label("Tell the agent something")).to_have_value("pc? s")
    assert not Order.objects.exists()
    ada.keyboard.press("Escape")
    ada.keyboard.press("p")
    expect(ada.locator("#chips")).to_contain_text("Pause")
    wire.release()
    until(run, "paused")


def test_a_dialog_keeps_the_focus_and_gives_it_back(wire: Wire, house: LiveHouse) -> None:
    wire.hold(9)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(9), 60, "the ninth turn")
    ada = house.page(path(run))
    button = ada.get_by_role("button", name=re.compile("Compact…"))
    button.focus()
    ada.keyboard.press("Enter")
    dialog = ada.locator("#dialog")
    expect(dialog).to_be_visible()
    for _ in range(12):
        ada.keyboard.press("Tab")
        assert focus_is_in(ada, dialog)
    ada.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    ada.keyboard.press("c")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Keep the most recent").fill("2")
    ada.keyboard.press("Control+Enter")
    expect(dialog).to_be_hidden()
    assert Order.objects.get(run=run).kind == "compact"


def focus_is_in(page: In, dialog: In) -> bool:
    """In the dialog, or in the browser's own bar on the way round."""
    inside: bool = dialog.evaluate(HAS_FOCUS)
    return inside or bool(page.evaluate("document.activeElement === document.body"))


def test_the_list_of_keys_tells_them_and_can_switch_them_off(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    ada.keyboard.press("?")
    keys = ada.locator("#keys")
    expect(keys).to_contain_text("previous, next turn")
    keys.get_by_label(re.compile("Single keys work")).uncheck()
    ada.keyboard.press("Escape")
    ada.keyboard.press("Home")
    ada.keyboard.press("t")
    expect(ada.locator("#chart-table")).to_be_hidden()
    expect(ada.locator("#past")).to_be_hidden()


def test_the_first_tab_stop_skips_to_the_content(finished: Run, house: LiveHouse) -> None:
    for where in ("/", path(finished), path(finished, "archive/"), path(finished, "compactions/2/")):
        ada = house.page(where)
        ada.evaluate("document.activeElement.blur()")
        ada.keyboard.press("Tab")
        expect(ada.locator("a.skip")).to_be_focused()
        ada.context.close()


def test_the_fleet_is_walked_with_j_k_and_enter(finished: Run, house: LiveHouse) -> None:
    ada = house.page("/")
    ada.keyboard.press("j")
    expect(ada.locator(f"#open-{finished.slug}")).to_be_focused()
    ada.keyboard.press("Enter")
    expect(ada).to_have_url(house.address + path(finished))
    ada.go_back()
    ada.keyboard.press("/")
    ada.keyboard.type("no such run")
    expect(ada.locator("#fleet")).to_contain_text("No run matches.")
