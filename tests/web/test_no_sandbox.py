"""A machine without a sandbox, and a person who wants to be asked: no command runs that nobody allowed.

The llm is the stand-in in a process of its own, reached like a real one: a rehearsal's own commands never ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runs.engine import sandbox
from runs.engine.sandbox import probe
from runs.models import Event, Run
from runs.present import asking
from runs.runner import taking_up
from tests.chaos.house import House
from tests.living import LiveHouse, expect
from tests.stories.apart import rehearsing
from tests.stories.telling import begin, path, until


@pytest.fixture
def bare(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AGENTDASH_UNSANDBOXED=ask, and no bubblewrap where programs are looked for."""
    home = tmp_path / "apart"
    home.mkdir()
    with rehearsing(House(home)) as address:
        settings.AGENTDASH = replace(settings.AGENTDASH, anthropic_base_url=address, unsandboxed="ask")
        monkeypatch.setattr(probe, "PROGRAMS", str(tmp_path))
        monkeypatch.setattr(sandbox, "_holds", {})
        forget()
        yield
    forget()


def forget() -> None:
    taking_up.llm_of.cache_clear()
    asking._is_open.cache_clear()


def commands(run: Run) -> list[str]:
    """The commands that have begun."""
    begun = Event.objects.filter(run=run, kind="call.started").order_by("seq")
    return [event.data["id"] for event in begun if event.data["name"] == "run_command"]


def test_each_command_asks_under_a_red_band(live_house: LiveHouse, bare: None) -> None:
    run = until(begin("hello", max_usd=0), "waiting")
    assert run.reason.startswith("approval: There is no sandbox here")
    assert commands(run) == []
    ada = live_house.page(path(run))
    expect(ada.locator("#no-sandbox")).to_have_text(
        "No sandbox here. Each command asks first, by your choice."
    )
    card = ada.locator("#asks")
    expect(card.locator(".asks-danger")).to_contain_text("This runs as the worker's own user")
    expect(card.get_by_role("button", name="Always for this run")).to_have_count(0)
    asks = asking.asks(run)
    assert asks is not None
    always = {"call": asks.call, "input_sha256": asks.input_sha256, "always": "true"}
    told = live_house.client().post(
        path(run, "orders/approve/?wait=10"), always, headers={"accept": "application/json"}
    )
    assert (told.status_code, "no sandbox" in told.json()["reason"]) == (409, True)
    card.get_by_role("button", name=re.compile("^Allow once")).click()
    until(run, "done")
    assert commands(run) == [asks.call]


def test_a_rehearsal_beside_it_does_not_ask_and_carries_no_band(live_house: LiveHouse, bare: None) -> None:
    run = until(begin("rehearsal/hello"), "done")
    ada = live_house.page(path(run))
    expect(ada.locator("#banner")).to_contain_text("Done after 3 turns.")
    expect(ada.locator("#no-sandbox")).to_have_count(0)
