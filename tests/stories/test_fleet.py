"""Ada looks at all her runs: which of them needs her first, and what does it all cost?"""

from __future__ import annotations

import re

from runs.models import Run
from tests.builders import runs_of_every_state
from tests.conftest import wait_until
from tests.living import LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire


def test_the_run_that_needs_her_comes_first(db: None, house: LiveHouse) -> None:
    """Sorted by attention: waiting, failed, then what works, then what has ended."""
    from agentdash.door import local

    made = {run.state: run.slug for run in runs_of_every_state(local()) if run.state != "running"}
    ada = house.page("/")
    rows = ada.locator("#fleet .run-row").evaluate_all("(all) => all.map((row) => row.dataset.slug)")
    assert rows[:2] == [made["waiting"], made["failed"]]
    expect(ada.locator(f"#row-{made['waiting']}")).to_contain_text("401 the key is not valid")


def test_the_list_keeps_itself_fresh_without_a_reload(house: LiveHouse, wire: Wire) -> None:
    wire.hold(2)
    run = begin("rehearsal/hello")
    ada = house.page("/")
    row = ada.locator(f"#row-{run.slug}")
    expect(row).to_contain_text("Running")
    wire.release()
    until(run, "done")
    expect(row).to_contain_text("Done")
    expect(row.locator(".c-turn")).to_contain_text("3")


def test_a_run_can_be_held_and_let_go_from_its_row(house: LiveHouse, wire: Wire) -> None:
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada = house.page("/")
    row = ada.locator(f"#row-{run.slug}")
    ada.keyboard.press("j")
    expect(row.locator(".open")).to_be_focused()
    ada.keyboard.press("p")
    wait_until(lambda: happened(run, "order.asked"), what="the order")
    wire.hold(2)
    until(run, "paused")
    row.get_by_role("button", name="Resume").click()
    wait_until(lambda: wire.holds(2), 60, "the second turn")


def test_the_sparkline_marks_each_compaction(finished: Run, house: LiveHouse) -> None:
    ada = house.page("/")
    row = ada.locator(f"#row-{finished.slug}")
    count = finished.sums["compactions"]
    expect(row.locator("svg.spark .cut")).to_have_count(count)
    expect(row.locator("svg.spark")).to_have_attribute("aria-label", f"Window by turn, {count} compactions")


def test_groups_and_words_narrow_the_list_and_stand_in_the_address(finished: Run, house: LiveHouse) -> None:
    ada = house.page("/")
    ada.locator("#fleet-groups").get_by_role("link", name=re.compile("Done")).click()
    expect(ada).to_have_url(re.compile(r"\?group=ended"))
    expect(ada.locator("#fleet .run-row")).to_have_count(1)
    ada.get_by_label("Filter the list").fill("no such run")
    expect(ada.locator("#fleet")).to_contain_text("No run matches.")
    ada.locator("#fleet").get_by_role("link", name=re.compile("Show all")).click()
    expect(ada.locator(f"#row-{finished.slug}")).to_be_visible()


def test_the_row_leads_to_the_run(finished: Run, house: LiveHouse) -> None:
    ada = house.page("/")
    ada.get_by_role("link", name=finished.title).click()
    expect(ada).to_have_url(house.address + path(finished))
