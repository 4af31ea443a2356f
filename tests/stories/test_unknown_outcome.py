"""The process dies while a command runs: nobody repeats it by themselves, and Ada says what shall count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.house import House
from tests.conftest import wait_until
from tests.living import In, expect

from .apart import command


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    made = House(home)
    yield made
    made.close()


def interrupted(apart: House, on_unknown: str) -> str:
    """A run whose first process died right after it wrote down that a command begins; a second one has taken it up."""
    policy = apart.home.with_name("policy.toml")
    policy.write_text(f'[approval]\non_unknown = "{on_unknown}"\n')
    apart.extra["AGENTDASH_CRASH"] = "after_tx3"
    life = apart.start()
    slug = str(
        apart.ask("run", "x", "--llm", "rehearsal/errands", "--policy", str(policy), "--pace", "fast")["run"]
    )
    wait_until(lambda: not life.lives, 60, "the process to die")
    del apart.extra["AGENTDASH_CRASH"]
    apart.start()
    return slug


def page_of(apart: House, browser: In, slug: str) -> In:
    ada = browser.new_context().new_page()
    ada.goto(f"{command(apart, 'link').out.splitlines()[0]}&next=/runs/{slug}/")
    return ada


def errands(apart: House, slug: str) -> list[str]:
    """What the commands of the run have written."""
    done = apart.home / "workspaces" / slug / "done.txt"
    return done.read_text().split() if done.exists() else []


def status(apart: House) -> str:
    return str(apart.one("SELECT status FROM runs_call WHERE turn = 1"))


def state(apart: House) -> str:
    return str(apart.one("SELECT state FROM runs_run"))


@pytest.mark.parametrize(
    ("button", "ended", "times"),
    [("Mark done", "done", 0), ("Run again", "done", 1)],
)
def test_the_run_waits_and_what_ada_says_counts(
    apart: House, browser: In, button: str, ended: str, times: int
) -> None:
    slug = interrupted(apart, "wait")
    wait_until(lambda: state(apart) == "waiting", 60, "the run to wait")
    ada = page_of(apart, browser, slug)
    expect(ada.locator("#banner")).to_contain_text("Outcome unknown.")
    expect(ada.locator("#asks pre")).to_have_text("echo errand-1 >> done.txt")
    assert (status(apart), errands(apart, slug)) == ("started", [])
    ada.locator("#asks").get_by_role("button", name=button).click()
    wait_until(
        lambda: apart.rows("SELECT 1 FROM runs_turn WHERE number = 1 AND status = 'closed'"), 30, "turn 1"
    )
    assert status(apart) == ended
    wait_until(lambda: "errand-2" in errands(apart, slug), 30, "the work to go on")
    assert errands(apart, slug).count("errand-1") == times
    assert command(apart, "verify", slug, "--json").json["ok"] is True


def test_by_default_the_agent_is_told_and_the_page_says_so_in_amber(apart: House, browser: In) -> None:
    slug = interrupted(apart, "tell_agent")
    wait_until(
        lambda: apart.rows("SELECT 1 FROM runs_turn WHERE number = 1 AND status = 'closed'"), 60, "turn 1"
    )
    command(apart, "pause", slug)
    ada = page_of(apart, browser, slug)
    expect(ada.locator("#feed-rows .unsure").first).to_contain_text("outcome unknown")
    assert status(apart) == "unknown"
    told = apart.one("SELECT data FROM runs_event WHERE kind = 'call.ended' ORDER BY seq LIMIT 1")
    assert json.loads(told)["status"] == "unknown"
    ada.locator("#feed-rows .unsure").get_by_role("button", name="Mark done").first.click()
    said = "I looked at the run_command of turn 1 whose outcome was unknown: it had run to its end. Do not repeat it."
    expect(ada.locator("#feed-rows")).to_contain_text(said)
    row = ada.locator("#feed-rows .unsure").first
    expect(row).to_contain_text("You looked: done.")
    expect(row.get_by_role("button", name="Mark done")).to_have_count(0)


def test_the_command_line_tells_what_waits_and_takes_the_answer(apart: House) -> None:
    slug = interrupted(apart, "wait")
    wait_until(lambda: state(apart) == "waiting", 60, "the run to wait")
    asks = command(apart, "show", slug, "--json").json["asks"]
    assert (asks["about"], asks["input"]) == ("unknown_outcome", {"command": "echo errand-1 >> done.txt"})
    assert f"agentdash answer {slug} {asks['call']} done|again|leave" in command(apart, "show", slug).out
    refused = command(apart, "approve", slug, asks["call"], "--sha256", asks["input_sha256"])
    assert (refused.code, "its outcome is unknown" in refused.out) == (1, True)
    assert command(apart, "answer", slug, asks["call"], "done", "--json").json["state"] == "applied"
    wait_until(lambda: status(apart) == "done", 30, "the call to be settled")
