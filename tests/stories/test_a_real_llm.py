"""A server that speaks the Messages API, somewhere else: the same run works against it, and shows its troubles.

The server is `agentdash rehearse` in a process of its own, reached by ANTHROPIC_BASE_URL alone. An llm it does not
know by name it plays like a script of that name, with the faults that follow the plus sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runs.models import Event, Run, Turn
from runs.runner import taking_up
from tests.chaos.house import House
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .apart import rehearsing
from .telling import begin as begin_as_told
from .telling import happened, path, until


def begin(llm: str) -> Run:
    """Nobody knows what such an llm costs, so the valve for dollars is taken off."""
    return begin_as_told(llm, max_usd=0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home: Path = tmp_path_factory.mktemp("apart") / "home"
    home.mkdir()
    with rehearsing(House(home)) as address:
        yield address


@pytest.fixture(autouse=True)
def reached(server: str, settings: Any) -> Iterator[None]:
    """ANTHROPIC_BASE_URL, and no key: that alone is a complete group."""
    settings.AGENTDASH = replace(settings.AGENTDASH, anthropic_base_url=server)
    taking_up.llm_of.cache_clear()
    yield
    taking_up.llm_of.cache_clear()


def test_a_run_against_a_server_apart_ends_like_one_in_process(house: LiveHouse) -> None:
    """Window and output limit come from the server, because no table of ours knows this llm."""
    run = until(begin("hello"), "done")
    assert run.turn_no == 3
    assert run.sums["window"]["limit"] == 200_000


def test_the_cache_is_accounted_for_on_every_turn(house: LiveHouse) -> None:
    """What one turn has read and written, the next one reads."""
    run = until(begin("hello"), "done")
    first, second, third = (turn.usage for turn in Turn.objects.filter(run=run).order_by("number"))
    assert second["cache_read"] == first["cache_read"] + first["cache_write"]
    assert third["cache_read"] == second["cache_read"] + second["cache_write"]
    ada = house.page(path(run))
    expect(ada.locator(".kpis")).to_contain_text(re.compile(r"From cache\s*\d+ %"))


def test_a_cut_stream_is_the_same_turn_tried_again_and_no_tool_runs_twice(house: LiveHouse) -> None:
    run = until(begin("hello+reset@2"), "done")
    lost = happened(run, "turn.lost", 2)
    assert len(lost) == 1
    assert [event.data["attempt"] for event in happened(run, "turn.opened", 2)] == [1, 2]
    assert len(happened(run, "call.started", 2)) == 1
    ada = house.page(path(run))
    expect(ada.locator("#feed-rows")).to_contain_text(re.compile("lost|tried again|retr", re.IGNORECASE))


def test_a_429_is_waited_for_as_long_as_the_server_asks(house: LiveHouse) -> None:
    run = until(begin("hello+429@2"), "done")
    waited = happened(run, "llm.retry", 2)
    assert [event.data["status"] for event in waited] == [429]
    assert waited[0].data["wait_ms"] >= 1000
    assert run.turn_no == 3


def test_a_400_fails_the_run_with_what_the_server_said_and_retry_goes_on(house: LiveHouse) -> None:
    """A request the server refuses is our mistake: it is not repeated by itself, and nothing is lost."""
    run = begin("hello+400@2")
    until(run, "failed")
    assert "the rehearsal refuses this request" in run.reason
    ada = house.page(path(run))
    expect(ada.locator("#banner")).to_contain_text("Failed after turn 1.")
    expect(ada.locator("#banner")).to_contain_text("Nothing is lost.")
    ada.locator("#banner").get_by_role("button", name="Retry").click()
    expect(ada.locator("#banner")).to_contain_text("Done after 3 turns.", timeout=30_000)


def test_a_wrong_key_waits_with_the_reason_and_a_retry_button(house: LiveHouse) -> None:
    run = begin("hello+401@2")
    until(run, "waiting")
    assert run.reason.startswith("llm: ")
    ada = house.page(path(run))
    expect(ada.locator("#banner")).to_contain_text("invalid x-api-key")
    expect(ada.locator("#banner")).to_contain_text("Nothing is lost; the run goes on where it stood.")
    ada.locator("#banner").get_by_role("button", name="Retry").click()
    expect(ada.locator("#banner")).to_contain_text("Done after 3 turns.", timeout=30_000)
    assert Turn.objects.filter(run=run, status="closed").count() == 3


def test_a_server_that_is_away_is_waited_for_and_said_so(house: LiveHouse, settings: Any) -> None:
    """Nobody listens at this address."""
    settings.AGENTDASH = replace(settings.AGENTDASH, anthropic_base_url="http://127.0.0.1:9")
    taking_up.llm_of.cache_clear()
    run = begin("claude-opus-5-5")
    wait_until(lambda: happened(run, "llm.retry"), 60, "a first retry")
    answer = house.client().post(
        path(run, "orders/stop_now/?wait=10"), headers={"accept": "application/json"}
    )
    assert answer.json()["state"] == "applied"
    until(run, "stopped")
    assert not Event.objects.filter(run=run, kind="turn.answered").exists()


def test_dollars_without_a_price_are_refused_and_never_ignored(house: LiveHouse) -> None:
    answer = house.client().post(
        "/runs/", {"llm": "hello", "goal": "Try."}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    assert "There is no price for 'hello' here" in answer.json()["error"]


def test_an_llm_nobody_knows_is_a_question_and_not_a_crash(house: LiveHouse, settings: Any) -> None:
    settings.AGENTDASH = replace(settings.AGENTDASH, anthropic_base_url="")
    answer = house.client().post(
        "/runs/", {"llm": "gpt-17", "goal": "Try."}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    assert "'gpt-17' is not known" in answer.json()["error"]
