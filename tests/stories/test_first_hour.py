"""A newcomer's first hour, in one story: from the printed link to an archive she can search."""

from __future__ import annotations

import re

from django.conf import settings

from agentdash import door
from runs.models import Run
from tests.living import LiveHouse, expect

from .telling import until, until_turn

SLOW = 60_000


def test_a_newcomer_watches_steers_stops_and_reads(house: LiveHouse) -> None:
    """She knows nothing of keys or policies, and needs no manual: each page says what comes next."""
    ada = house.stranger(viewport={"width": 1440, "height": 900}).new_page()
    ada.goto(door.link(settings.AGENTDASH_HOME, house.address))
    expect(ada.get_by_role("heading", name="No runs yet")).to_be_visible()
    expect(ada.locator("main")).to_contain_text("no API key needed")

    ada.get_by_role("button", name="Start a rehearsal run").click()
    expect(ada.get_by_role("heading", level=1)).to_have_text("The shop that sold nine lamps of six")
    expect(ada.locator("#typing")).to_have_text(re.compile(r"\w+ \w+"), timeout=5_000)
    run = Run.objects.get()
    until_turn(run, 2)
    meter = ada.get_by_role("meter", name="Tokens in the window")
    expect(meter).to_have_attribute("aria-valuenow", re.compile(r"[1-9]\d+"))
    expect(ada.locator("#plot canvas")).to_be_visible()

    box = ada.get_by_label("Tell the agent something")
    box.fill("Please explain what you look at first.")
    box.press("Enter")
    feed = ada.locator("#feed-rows")
    expect(feed).to_contain_text("You wrote: “Please explain what you look at first.”", timeout=SLOW)

    bar = ada.locator("#controls")
    bar.get_by_role("button", name=re.compile("^Pause")).click()
    expect(ada.locator("#banner")).to_contain_text("Paused after turn", timeout=SLOW)
    before = until(run, "paused").turn_no
    bar.get_by_role("button", name=re.compile("^Step")).click()
    until_turn(run, before + 1)
    until(run, "paused")

    bar.get_by_role("button", name=re.compile("Compact…")).click()
    dialog = ada.locator("#dialog")
    expect(dialog).to_contain_text("The whole history stays in the archive.")
    dialog.get_by_text("Clear old tool results").click()
    dialog.get_by_label("Keep the most recent").fill("0")
    dialog.get_by_role("button", name=re.compile("Compact now")).click()
    expect(feed).to_contain_text(re.compile("results? cleared|Compaction", re.IGNORECASE), timeout=SLOW)
    feed.get_by_role("link", name="Open diff").last.click()
    expect(ada.locator("table.sums")).to_contain_text("cleared")
    ada.go_back()

    bar.get_by_role("button", name=re.compile("^Stop")).first.click()
    ada.get_by_role("button", name="Stop now").click()
    expect(ada.locator("#banner")).to_contain_text(
        "Archive and files are kept; write to the agent and it goes on."
    )
    until(run, "stopped")

    ada.locator("#banner").get_by_role("link", name="Archive").click()
    ada.get_by_label("Search this run").fill("README.md")
    ada.keyboard.press("Enter")
    expect(ada.locator("[data-hits] .hit").first).to_be_visible()
    expect(ada.locator("[data-hits]")).to_contain_text("cleared")
    ada.locator("[data-model]").click()
    expect(ada.locator(".model-bar")).to_contain_text("Exactly what the llm received at turn")

    ada.get_by_role("link", name="Runs", exact=True).click()
    row = ada.locator(f"#row-{run.slug}")
    expect(row).to_contain_text("Stopped")
    expect(row.locator("svg.spark")).to_be_visible()
