"""Ada stops a run: at the boundary, or at once, in the middle of a word."""

from __future__ import annotations

import re

from runs.models import Order, Turn
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire


def test_stop_now_cuts_the_reply_and_nothing_of_it_is_used(wire: Wire, house: LiveHouse) -> None:
    """The llm never finishes this answer: only a cancelled call can end the turn."""
    wire.hold(2)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    ada.locator("#controls").get_by_role("button", name=re.compile("^Stop$|^Stop ")).first.click()
    ada.get_by_role("button", name="Stop now").click()
    until(run, "stopped")
    expect(ada.locator("#banner")).to_contain_text("Stopped after turn 1 by you")
    assert wire.holds(2)
    assert Turn.objects.get(run=run, number=2).status == "cancelled"
    assert not happened(run, "turn.answered", 2)
    asked, answered = happened(run, "order.asked")[-1], happened(run, "order.answered")[-1]
    assert [event.kind for event in happened_between(run, asked.seq, answered.seq)] in (
        ["turn.lost", "order.answered"],
        ["turn.lost", "run.state", "order.answered"],
        ["turn.lost", "order.answered", "run.state"],
    )


def happened_between(run: object, first: int, last: int) -> list[object]:
    from runs.models import Event

    return list(Event.objects.filter(run=run, seq__gt=first, seq__lte=last).order_by("seq"))


def test_stop_waits_for_the_turn_to_end(wire: Wire, house: LiveHouse) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    ada.locator("#controls").get_by_role("button", name=re.compile("^Stop$|^Stop ")).first.click()
    ada.get_by_role("button", name="Stop after this turn").click()
    expect(ada.locator("#chips")).to_contain_text("after this turn")
    wire.release()
    assert until(run, "stopped").turn_no == 2
    assert Order.objects.get(run=run).state == "applied"


def test_going_on_instead_gives_no_order(wire: Wire, house: LiveHouse) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    ada.locator("#controls").get_by_role("button", name=re.compile("^Stop$|^Stop ")).first.click()
    ada.keyboard.press("Escape")
    expect(ada.get_by_role("button", name="Stop now")).to_be_hidden()
    assert not Order.objects.filter(run=run).exists()


def test_a_running_command_is_killed_and_told_as_killed(house: LiveHouse, tmp_path: object) -> None:
    """Stop now reaches the tool too: nothing of it survives, and the archive says how it ended."""
    run = begin("rehearsal/errands")
    wait_until(lambda: happened(run, "call.ended"), 60, "the first errand")
    house.client().post(path(run, "orders/stop_now/"))
    until(run, "stopped")
    assert not Turn.objects.filter(run=run, status="open").exists()
    statuses = {event.data["status"] for event in happened(run, "call.ended")}
    assert statuses <= {"done", "killed", "skipped"}


def test_writing_to_a_stopped_run_takes_it_up_again(wire: Wire, house: LiveHouse) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    house.client().post(path(run, "orders/stop_now/"))
    until(run, "stopped")
    wire.release()
    ada = house.page(path(run))
    ada.get_by_label("Tell the agent something").fill("Please go on.")
    ada.keyboard.press("Enter")
    expect(ada.locator("#banner")).to_contain_text("Done after 3 turns.", timeout=30_000)
    expect(ada.locator("#feed-rows")).to_contain_text("You wrote: “Please go on.”")
