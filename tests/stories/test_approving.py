"""Before a tool runs, Ada is asked: she allows it, changes it or refuses it, and what she saw is what runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runs.models import Order, Run
from runs.present import asking
from tests.conftest import wait_until
from tests.living import In, LiveHouse, expect

from .telling import begin, happened, path, until
from .wire import Wire


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """Both tools of the script `hello` ask first."""
    file = tmp_path / "asks.toml"
    file.write_text('[approval]\ntools = ["write_file", "effectful"]\n')
    return str(file)


def asked(run: Run) -> asking.Ask:
    """The card once the run waits for it."""
    until(run, "waiting")
    found = asking.asks(run)
    assert found is not None
    return found


def next_card(page: In, tool: str) -> In:
    card = page.locator("#asks")
    expect(card).to_have_attribute("aria-label", f"{tool} waits for you", timeout=20_000)
    return card


def written(run: Run) -> dict[str, str]:
    """The files of the run's workspace."""
    return {file.name: file.read_text() for file in Path(run.workspace).iterdir() if file.is_file()}


def test_ada_allows_a_file_and_a_command_and_blas_sees_it(house: LiveHouse, wire: Wire, policy: str) -> None:
    wire.hold(1)
    run = begin("rehearsal/hello", policy=policy)
    ada, blas = house.page(path(run)), house.page(path(run))
    wire.release()
    card = next_card(ada, "write_file")
    expect(card.locator("pre.add")).to_have_text('print("Hello from the rehearsal.")')
    expect(card).to_contain_text("hello.py")
    expect(ada.locator("#banner")).to_contain_text("Needs approval.")
    assert written(run) == {}
    card.get_by_role("button", name=re.compile("^Allow once")).click()
    card = next_card(blas, "run_command")
    expect(card.locator("pre")).to_have_text("python3 hello.py")
    assert list(written(run)) == ["hello.py"]
    ada.keyboard.press("a")
    expect(ada.locator("#asks")).to_be_focused()
    ada.keyboard.press("a")
    expect(blas.locator("#banner")).to_contain_text("Done after 3 turns.", timeout=20_000)
    expect(blas.locator("#asks")).to_have_count(0)
    assert [order.state for order in Order.objects.filter(run=run, kind="approve")] == ["applied"] * 2


def test_ada_changes_the_command_and_only_hers_runs(house: LiveHouse, policy: str) -> None:
    run = begin("rehearsal/hello", policy=policy)
    ada = house.page(path(run))
    next_card(ada, "write_file").get_by_role("button", name="Always for this run").click()
    card = next_card(ada, "run_command")
    card.get_by_text("Edit", exact=True).click()
    box = card.get_by_role("textbox", name="command")
    expect(box).to_have_value("python3 hello.py")
    box.fill("echo changed by Ada > note.txt\ncat note.txt")
    card.get_by_role("button", name="Run this instead").click()
    until(run, "done")
    assert written(run)["note.txt"] == "changed by Ada\n"
    (said,) = [event for event in happened(run, "approval.answered") if event.data["verdict"] == "edit"]
    assert said.data["by"] == "local"
    expect(ada.locator("#feed-rows")).to_contain_text("run_command")
    row = ada.locator("#feed-rows details", has_text="run_command")
    row.locator("summary").click()
    expect(row.locator(".body")).to_contain_text("A person changed the input before this ran.")


def test_ada_refuses_with_a_reason_and_the_agent_reads_it(house: LiveHouse, wire: Wire, policy: str) -> None:
    run = begin("rehearsal/hello", policy=policy)
    ada = house.page(path(run))
    next_card(ada, "write_file")
    ada.keyboard.press("d")
    box = ada.locator("#asks").get_by_role("textbox", name="reason, for the agent")
    expect(box).to_be_focused()
    box.fill("Write it in French.")
    box.press("Enter")
    wait_until(lambda: happened(run, "turn.closed", 1), 20, "the first turn")
    assert written(run) == {}
    wait_until(lambda: 2 in wire.turns(run.slug), 20, "the second request")
    assert b"They wrote: Write it in French." in wire.turns(run.slug)[2]
    expect(ada.locator("#feed-rows")).to_contain_text("refused")


def test_a_card_that_is_out_of_date_changes_nothing(house: LiveHouse, policy: str) -> None:
    """Blas' page stands still while Ada has allowed the file; his click means a call that no longer waits."""
    run = begin("rehearsal/hello", policy=policy)
    card = asked(run)
    blas = house.page(path(run), java_script_enabled=False)
    house.client().post(path(run, "orders/approve/"), {"call": card.call, "input_sha256": card.input_sha256})
    wait_until(lambda: happened(run, "turn.closed", 1), 20, "the first turn")
    assert asked(run).name == "run_command"
    blas.locator("[data-refuse] summary").click()
    blas.get_by_role("button", name="Refuse").click()
    wait_until(lambda: not Order.objects.filter(run=run, state="pending").exists(), 20, "the answer")
    late = Order.objects.get(run=run, kind="deny")
    assert (late.state, "another call waits now" in late.reason) == ("rejected", True)
    assert asked(run).name == "run_command"
    expect(blas.locator("#asks")).to_have_attribute("aria-label", "run_command waits for you")


def test_the_card_works_without_script(house: LiveHouse, policy: str) -> None:
    run = begin("rehearsal/hello", policy=policy)
    asked(run)
    ada = house.page(path(run), java_script_enabled=False)
    ada.get_by_role("button", name=re.compile("^Allow once")).click()
    wait_until(lambda: happened(run, "turn.closed", 1), 20, "the first turn")
    assert list(written(run)) == ["hello.py"]


def test_a_message_instead_of_an_answer_is_read_and_the_call_is_not_run(
    house: LiveHouse, policy: str
) -> None:
    run = begin("rehearsal/hello", policy=policy)
    ada = house.page(path(run))
    next_card(ada, "write_file")
    ada.get_by_label("Tell the agent something").fill("Leave files alone.")
    ada.keyboard.press("Enter")
    expect(ada.locator("#feed-rows")).to_contain_text("You wrote: “Leave files alone.”", timeout=20_000)
    assert happened(run, "call.ended", 1)[0].data["status"] == "skipped"
    assert written(run) == {}


def test_ada_sees_what_would_change_in_a_file_that_is_there(house: LiveHouse, policy: str) -> None:
    run = begin("rehearsal/hello", policy=policy)
    asked(run)
    (Path(run.workspace) / "hello.py").write_text("import sys\nprint('Nobody.')\n")
    ada = house.page(path(run))
    changes = ada.locator("#asks").get_by_role("region", name="Changes to hello.py")
    expect(changes.locator(".gone")).to_have_count(2)
    expect(changes.locator(".new")).to_contain_text('print("Hello from the rehearsal.")')


def test_what_is_asked_of_the_window_meanwhile_stays_in_sight_and_is_done_when_the_turn_closes(
    house: LiveHouse, wire: Wire, policy: str
) -> None:
    run = begin("rehearsal/hello", policy=policy)
    ada = house.page(path(run))
    next_card(ada, "write_file").get_by_role("button", name=re.compile("^Allow once")).click()
    card = next_card(ada, "run_command")
    ada.get_by_role("button", name="Clear…").click()
    dialog = ada.get_by_role("dialog")
    expect(dialog).to_contain_text("A call of this turn waits for your word.")
    dialog.get_by_role("button", name="Clear the window").click()
    expect(ada.locator("#chips")).to_contain_text("when the open turn closes")
    wire.hold(3)
    card.get_by_role("button", name=re.compile("^Allow once")).click()
    expect(ada.locator("#chips")).not_to_contain_text("Clear", timeout=20_000)
    expect(ada.locator("#answers")).to_contain_text("Window cleared")
    wire.release()
    until(run, "done")
    assert Order.objects.get(run=run, kind="clear").state == "applied"


def test_stop_now_works_while_the_run_waits(house: LiveHouse, policy: str) -> None:
    run = begin("rehearsal/hello", policy=policy)
    ada = house.page(path(run))
    next_card(ada, "write_file")
    ada.locator("#controls").get_by_role("button", name=re.compile("^Stop$|^Stop ")).first.click()
    ada.get_by_role("button", name="Stop now").click()
    expect(ada.locator("#banner")).to_contain_text("Stopped", timeout=10_000)
    expect(ada.locator("#asks")).to_have_count(0)
    assert written(run) == {}
