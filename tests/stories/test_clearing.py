"""Ada clears the window: the run goes on with what she said and nothing else, and nothing of the past is lost."""

from __future__ import annotations

import re

from runs.models import Edit, Order
from runs.store.search import find
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, path
from .wire import Wire

IN_TURN = 7


def test_clear_keeps_goal_notes_and_what_was_said_and_drops_the_rest(wire: Wire, house: LiveHouse) -> None:
    """The dialog starts on Cancel, names both lists, and no llm is called."""
    wire.hold(IN_TURN)
    run = begin("rehearsal", policy="demo")
    ada = house.page(path(run))
    ada.get_by_label("Tell the agent something").fill("Mind the warehouse in Graz.")
    ada.get_by_role("button", name="Send").click()
    wait_until(lambda: wire.holds(IN_TURN), 60, "the seventh turn")
    ada.get_by_role("button", name=re.compile("Clear…")).click()
    dialog = ada.locator("#dialog")
    expect(dialog.get_by_role("link", name="Cancel")).to_be_focused()
    expect(dialog).to_contain_text("Stays in the window")
    expect(dialog).to_contain_text("Leaves the window")
    dialog.get_by_role("button", name="Clear the window").click()
    expect(ada.locator("#chips")).to_contain_text("after this turn")
    wire.hold(IN_TURN + 1)
    expect(ada.locator("#answers")).to_contain_text("Window cleared")
    edit = Edit.objects.get(run=run, kind="clear")
    assert (edit.trigger, edit.cost, edit.episode) == ("person", 0, None)
    assert edit.tokens_after < edit.tokens_before
    wait_until(lambda: wire.holds(IN_TURN + 1), what="the next turn")
    body = wire.turns(run.slug)[IN_TURN + 1].decode()
    assert "Mind the warehouse in Graz." in body
    assert "Find out why the shop sold more lamps than it had." in body
    assert "I start by looking at what is there." not in body
    assert {hit.state.value for hit in find("start by looking", run=run)} == {"dropped"}


def test_cancel_clears_nothing(wire: Wire, house: LiveHouse) -> None:
    wire.hold(3)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(3), 60, "the third turn")
    ada = house.page(path(run))
    ada.get_by_role("button", name=re.compile("Clear…")).click()
    expect(ada.locator("#dialog").get_by_role("link", name="Cancel")).to_be_focused()
    ada.keyboard.press("Enter")
    expect(ada.locator("#dialog")).to_be_hidden()
    assert not Order.objects.filter(run=run).exists()


def test_before_the_first_turn_there_is_nothing_to_clear_and_the_page_says_so(
    wire: Wire, house: LiveHouse
) -> None:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    ada = house.page(path(run))
    ada.get_by_role("button", name=re.compile("Clear…")).click()
    expect(ada.locator("#dialog")).to_contain_text("Nothing to clear yet")
