"""Ada writes to the agent: at the next safe point, at the end, or at once."""

from __future__ import annotations

from runs.models import Order
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire


def test_a_steer_is_read_before_the_next_turn_and_answered(wire: Wire, house: LiveHouse) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada.get_by_label("Tell the agent something").fill("Greet the warehouse too.")
    ada.keyboard.press("Enter")
    expect(ada.locator("#chips")).to_contain_text("“Greet the warehouse too.”")
    expect(ada.get_by_label("Tell the agent something")).to_have_value("")
    wire.release()
    until(run, "done")
    assert happened(run, "person.said")[0].seq < happened(run, "turn.opened", 2)[0].seq
    feed = ada.locator("#feed-rows")
    expect(feed).to_contain_text("You wrote: “Greet the warehouse too.” I keep that in mind.")
    expect(ada.locator("#chips")).not_to_contain_text("Greet the warehouse")


def test_a_queued_message_waits_until_the_run_would_stop_and_makes_it_go_on(
    wire: Wire, house: LiveHouse
) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada.get_by_label("Tell the agent something").fill("And what did you learn?")
    ada.keyboard.press("Alt+Enter")
    expect(ada.locator("#chips")).to_contain_text("when the run stops")
    wire.release()
    wait_until(lambda: happened(run, "turn.closed", 4), 60, "a fourth turn")
    until(run, "done")
    assert happened(run, "turn.closed", 3)[0].seq < happened(run, "person.said")[0].seq
    assert run.turn_no == 4


def test_an_interrupt_cuts_the_reply_and_is_read_at_once(wire: Wire, house: LiveHouse) -> None:
    """The cut reply is not used; the same turn is asked anew with the message in it."""
    wire.hold(2)
    run = begin("rehearsal/hello")
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    said = {"text": "Leave it, explain first.", "how": "interrupt"}
    house.client().post(path(run, "orders/say/"), said)
    wait_until(lambda: happened(run, "person.said"), 60, "the message")
    wire.release()
    until(run, "done")
    lost, heard = happened(run, "turn.lost", 2)[0], happened(run, "person.said")[0]
    again = happened(run, "turn.opened", 2)[-1]
    assert lost.seq < heard.seq < again.seq
    assert again.data["attempt"] == 2
    assert b"Leave it, explain first." in wire.turns(run.slug)[2]


def test_a_run_that_is_done_goes_on_with_the_same_window(house: LiveHouse, wire: Wire) -> None:
    run = begin("rehearsal/hello")
    until(run, "done")
    before = wire.turns(run.slug)[3]
    ada = house.page(path(run))
    ada.get_by_label("Tell the agent something").fill("Thank you. One word more?")
    ada.keyboard.press("Enter")
    wait_until(lambda: happened(run, "turn.closed", 4), 60, "one more turn")
    until(run, "done")
    expect(ada.locator("#banner")).to_contain_text("Done after 4 turns.")
    assert b"I write a small program that greets." in before
    assert b"I write a small program that greets." in wire.turns(run.slug)[4]


def test_nothing_to_say_is_not_sent_and_the_reason_is_a_sentence(house: LiveHouse, wire: Wire) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    ada.get_by_role("button", name="Send").click()
    expect(ada.get_by_label("Tell the agent something")).to_be_focused()
    answer = house.client().post(
        path(run, "orders/say/"), {"text": "   "}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["error"] == "There is nothing to say: the text is empty. Write a sentence."
    assert not Order.objects.filter(run=run).exists()


def test_markup_in_a_message_is_text(house: LiveHouse, wire: Wire) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada.get_by_label("Tell the agent something").fill("<img src=x onerror=alert(1)> <b>bold</b>")
    ada.keyboard.press("Enter")
    wire.release()
    until(run, "done")
    expect(ada.locator("#feed-rows").get_by_text("<b>bold</b>").first).to_be_visible()
    expect(ada.locator("#feed-rows img")).to_have_count(0)
