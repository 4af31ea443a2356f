"""Blas's train goes through a tunnel: his page catches up without a reload, and shows nothing twice."""

from __future__ import annotations

from typing import Any

from runs.models import Run
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire

IDS = "[...document.querySelectorAll('[id]')].map((one) => one.id)"
ROWS = "[...document.querySelectorAll('#feed-rows > *')].map((row) => row.id)"


class Tunnel:
    """A page, and the line it hangs on."""

    def __init__(self, house: LiveHouse, run: Run) -> None:
        self.lines: list[Any] = []
        self.page = house.context().new_page()
        self.page.route_web_socket(lambda url: "/ws/runs/" in url, self._through)
        self.page.goto(house.address + path(run))
        self.page.evaluate("window.sameDocument = true")
        expect(self.page.locator("#live")).to_have_attribute("data-state", "live")

    def _through(self, line: Any) -> None:
        server = line.connect_to_server()
        line.on_message(server.send)
        server.on_message(line.send)
        self.lines.append(line)

    def enter(self) -> None:
        self.page.context.set_offline(True)
        self.page._do(lambda: self.lines[-1].close(code=1012))
        expect(self.page.locator("#offline")).to_contain_text("Reconnecting, nothing is lost.")

    def leave(self) -> None:
        self.page.context.set_offline(False)
        expect(self.page.locator("#live")).not_to_have_attribute("data-state", "reconnecting")


def test_the_page_catches_up_and_nothing_is_there_twice(wire: Wire, house: LiveHouse) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    blas = Tunnel(house, run)
    blas.enter()
    wire.release()
    until(run, "done")
    blas.leave()
    page = blas.page
    expect(page.locator("#banner")).to_contain_text("Done after 3 turns.")
    expect(page.locator("#offline")).to_contain_text("2 turns arrived while you were away.")
    assert page.evaluate("window.sameDocument") is True
    ids = page.evaluate(IDS)
    assert len(ids) == len(set(ids))
    assert page.evaluate(ROWS) == house.page(path(run)).evaluate(ROWS)


def test_an_absence_of_hundreds_of_events_is_drawn_anew_in_place(wire: Wire, house: LiveHouse) -> None:
    """As after an hour: more happened than is worth replaying, so the page is redrawn, still the same document."""
    wire.hold(3)
    run = begin("rehearsal/job-95")
    wait_until(lambda: wire.holds(3), 60, "the third turn")
    blas = Tunnel(house, run)
    blas.enter()
    wire.release()
    until(run, "done", seconds=120)
    assert len(happened(run, "turn.closed")) == 96
    blas.leave()
    page = blas.page
    expect(page.locator("#banner")).to_contain_text("Done after 96 turns.")
    expect(page.locator('#feed-rows [data-turn="96"]').first).to_be_visible()
    assert page.evaluate("window.sameDocument") is True
    ids = page.evaluate(IDS)
    assert len(ids) == len(set(ids))
    assert page.evaluate(ROWS) == house.page(path(run)).evaluate(ROWS)


def test_an_order_that_cannot_be_sent_says_so_and_is_not_kept_back(wire: Wire, house: LiveHouse) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    wait_until(lambda: wire.holds(2), 60, "the second turn")
    blas = Tunnel(house, run)
    blas.enter()
    blas.page.get_by_label("Tell the agent something").fill("Are you there?")
    blas.page.get_by_role("button", name="Send").click()
    expect(blas.page.locator("#answers")).to_contain_text("Message: not sent.")
    expect(blas.page.get_by_label("Tell the agent something")).to_have_value("Are you there?")
    blas.leave()
    assert not happened(run, "order.asked")
