"""Ada holds the run, walks it turn by turn, and lets it go."""

from __future__ import annotations

import re

from runs.models import Run
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire


def paused_after_the_first_turn(wire: Wire, house: LiveHouse) -> Run:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    assert house.client().post(path(run, "orders/pause/")).status_code in (302, 303)
    wire.release()
    return until(run, "paused")


def test_pause_takes_hold_after_the_turn_and_says_by_whom(wire: Wire, house: LiveHouse) -> None:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada.get_by_role("button", name=re.compile("^Pause")).click()
    expect(ada.locator("#chips")).to_contain_text("after this turn")
    wire.release()
    until(run, "paused")
    expect(ada.locator("#banner")).to_contain_text("Paused after turn 1 by you")
    expect(ada.locator("#controls").get_by_role("button", name=re.compile("^Resume"))).to_be_visible()
    assert run.turn_no == 1


def test_a_step_is_one_turn_and_the_run_is_paused_again(wire: Wire, house: LiveHouse) -> None:
    run = paused_after_the_first_turn(wire, house)
    ada = house.page(path(run))
    step = ada.locator("#controls").get_by_role("button", name=re.compile("^Step"))
    for turn in (2, 3):
        step.click()
        expect(ada.locator(f'#feed-rows [data-turn="{turn}"]').first).to_be_visible()
        expect(ada.locator("#vitals")).to_have_attribute("data-state", "paused")
        expect(step).to_be_enabled()
    assert until(run, "paused").turn_no == 3


def test_steps_can_be_asked_for_in_one_go(wire: Wire, house: LiveHouse) -> None:
    run = paused_after_the_first_turn(wire, house)
    answer = house.client().post(
        path(run, "orders/step/?wait=10"), {"n": 3}, headers={"accept": "application/json"}
    )
    assert answer.json()["state"] == "applied"
    wait_until(lambda: happened(run, "turn.closed", 4), 60, "three more turns")
    assert until(run, "paused").turn_no == 4


def test_a_run_that_is_not_paused_takes_no_step_and_says_why(wire: Wire, house: LiveHouse) -> None:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    step = house.page(path(run)).locator("#controls").get_by_role("button", name=re.compile("^Step"))
    expect(step).to_be_disabled()
    expect(step).to_have_attribute("title", re.compile("paused"))
    answer = house.client().post(path(run, "orders/step/"), headers={"accept": "application/json"})
    assert answer.status_code == 409
    assert "pause it first" in answer.json()["reason"]


def test_resume_lets_it_go_on_to_the_end(wire: Wire, house: LiveHouse) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello")
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    house.client().post(path(run, "orders/pause/"))
    wire.release()
    until(run, "paused")
    ada = house.page(path(run))
    ada.locator("#controls").get_by_role("button", name=re.compile("^Resume")).click()
    expect(ada.locator("#banner")).to_contain_text("Done after 3 turns.", timeout=30_000)
    assert until(run, "done").turn_no == 3
