"""The process is killed in the middle of the work; the next one goes on where it stood, and the page with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.house import House, free_port
from tests.conftest import wait_until
from tests.living import In, expect

from .apart import command

LISTEN = (
    """addEventListener("securitypolicyviolation", (e) => { window.refused = (window.refused || 0) + 1; })"""
)


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    made = House(home)
    yield made
    made.close()


def closed(apart: House) -> list[int]:
    return [
        turn for (turn,) in apart.rows("SELECT number FROM runs_turn WHERE status = 'closed' ORDER BY number")
    ]


def test_kill_the_process_and_start_again_and_the_run_goes_on(apart: House, browser: In) -> None:
    """No turn is done twice, the archive is whole, and the page that stood open catches up by itself."""
    life = apart.start()
    slug = apart.ask("run", "Read", "--llm", "rehearsal/job-8", "--pace", "human")["run"]
    context = browser.new_context()
    context.add_init_script(LISTEN)
    ada = context.new_page()
    ada.goto(f"{command(apart, 'link').out.splitlines()[0]}&next=/runs/{slug}/")
    expect(ada.locator("#live")).to_have_attribute("data-state", "live")
    ada.evaluate("window.sameDocument = true")
    wait_until(lambda: len(closed(apart)) >= 2, 60, "two turns")
    life.kill()
    before = closed(apart)
    expect(ada.locator("#offline")).to_contain_text("Reconnecting, nothing is lost.")
    apart.start()
    wait_until(lambda: apart.one("SELECT state FROM runs_run") == "done", 90, "the end")
    after = closed(apart)
    assert after == list(range(1, 10))
    assert after[: len(before)] == before
    expect(ada.locator("#banner")).to_contain_text("Done after 9 turns.", timeout=30_000)
    assert ada.evaluate("window.sameDocument") is True
    ids = ada.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert ada.evaluate("window.refused || 0") == 0
    context.close()
    assert json.loads(command(apart, "verify", slug, "--json").out)["ok"] is True


def test_ctrl_c_in_the_middle_of_a_turn_says_what_goes_on_and_the_next_start_does(apart: House) -> None:
    life = apart.start()
    apart.ask("run", "Fix it", "--llm", "rehearsal", "--policy", "demo", "--pace", "human")
    wait_until(
        lambda: apart.rows("SELECT 1 FROM runs_turn WHERE status = 'open'"), 60, "a turn to be under way"
    )
    life.interrupt()
    assert "1 run goes on where it stood, next time: agentdash serve" in life.output
    assert "Traceback" not in life.output
    before = closed(apart)
    again = apart.start()
    wait_until(lambda: len(closed(apart)) > len(before), 60, "one more turn")
    again.interrupt()
    assert closed(apart) == list(range(1, len(closed(apart)) + 1))


def test_a_second_process_on_the_same_home_is_refused_and_told_which_one_runs(apart: House) -> None:
    life = apart.start()
    said = command(apart, "serve", "--port", str(free_port()), "--no-open")
    assert said.code == 2
    assert f"as process {life.pid}" in said.err
