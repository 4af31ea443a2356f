"""Ada presses Compact while the agent is in the middle of a turn."""

from __future__ import annotations

import re

import pytest

from runs.models import Edit, Episode, Order, Run
from tests.conftest import wait_until
from tests.living import In, LiveHouse, expect

from .telling import begin, happened, path, until_turn
from .wire import Wire

IN_TURN = 9


@pytest.fixture
def run(wire: Wire, house: LiveHouse) -> Run:
    """Eight turns of the demo's work are done, and the ninth is being answered."""
    wire.hold(IN_TURN)
    made = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(IN_TURN), 60, "the ninth turn")
    made.refresh_from_db()
    return made


def opened(ada: In, dialog: str = "Compact…") -> In:
    ada.get_by_role("button", name=re.compile(dialog)).click()
    found = ada.locator("#dialog")
    expect(found.locator("form")).to_be_visible()
    return found


def compacted(ada: In) -> None:
    dialog = opened(ada)
    dialog.get_by_label("Keep the most recent").fill("2")
    dialog.get_by_role("button", name=re.compile("Compact now")).click()
    expect(dialog).to_be_hidden()


def test_the_answer_comes_at_once_and_the_compaction_at_the_boundary(
    run: Run, wire: Wire, house: LiveHouse
) -> None:
    """'Compact, after this turn' stands on the page while the turn goes on; nothing has changed until it is over."""
    ada = house.page(path(run))
    compacted(ada)
    expect(ada.locator("#chips")).to_contain_text("Compact")
    expect(ada.locator("#chips")).to_contain_text("after this turn")
    assert not Edit.objects.filter(run=run).exclude(kind="offload").exists()
    wire.hold(IN_TURN + 1)
    row = ada.locator("#feed-rows .fr", has_text="Compaction 1")
    expect(row).to_be_visible()
    expect(ada.locator("#chips")).not_to_contain_text("Compact")
    expect(ada.locator("#answers")).to_contain_text("Compacted")
    closed, edited = happened(run, "turn.closed", IN_TURN)[0], happened(run, "window.edited")[-1]
    opened_next = happened(run, "turn.opened", IN_TURN + 1)[0]
    assert closed.seq < edited.seq < opened_next.seq
    made, answered = Order.objects.get(run=run, kind="compact"), happened(run, "order.answered")[-1]
    assert (made.state, made.applied_seq, answered.at) == ("applied", answered.seq, edited.at)


def test_scripts_hear_applies_after_this_turn(run: Run, wire: Wire, house: LiveHouse) -> None:
    answer = house.client().post(path(run, "orders/compact/"), headers={"accept": "application/json"})
    assert answer.status_code == 202
    told = answer.json()
    assert (told["kind"], told["state"], told["reason"]) == ("compact", "pending", "applies after this turn")
    wire.hold(IN_TURN + 1)
    wait_until(lambda: Order.objects.get(pk=told["order"]).state == "applied", what="the compaction")


def test_instructions_reach_the_summary_and_are_kept_with_it(run: Run, wire: Wire, house: LiveHouse) -> None:
    ada = house.page(path(run))
    dialog = opened(ada)
    dialog.get_by_label("Keep the most recent").fill("2")
    dialog.get_by_label(re.compile("What the summary must keep")).fill("Keep the number of lamps.")
    dialog.get_by_role("button", name=re.compile("Compact now")).click()
    expect(ada.locator("#chips")).to_contain_text("after this turn")
    wire.hold(IN_TURN + 1)
    wait_until(
        lambda: Edit.objects.filter(run=run, state="applied", episode__isnull=False).first(), what="the edit"
    )
    edit = Edit.objects.get(run=run, episode__isnull=False)
    assert (edit.instructions, edit.trigger, edit.by) == ("Keep the number of lamps.", "person", "local")
    assert any(b"Keep the number of lamps." in one.body for one in wire.sent if one.is_summary)


def test_the_estimate_follows_every_change_and_says_what_it_is_of(run: Run, house: LiveHouse) -> None:
    """Less kept, less left: the dialog knows before anything is done. Cancel changes nothing."""
    ada = house.page(path(run))
    dialog = opened(ada)
    after = dialog.locator('[data-slot="after"]')
    dialog.get_by_label("Keep the most recent").fill("0")
    least = after.text_content()
    slider = dialog.get_by_label("Keep the most recent")
    slider.fill(slider.get_attribute("max"))
    expect(after).not_to_have_text(least)
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert not Order.objects.filter(run=run).exists()


def test_two_people_who_press_at_once_get_one_compaction(run: Run, wire: Wire, house: LiveHouse) -> None:
    """Blas hears that somebody was faster; both hear of the same order."""
    ada, blas = house.page(path(run)), house.page(path(run))
    compacted(ada)
    compacted(blas)
    expect(blas.locator("#chips .chip")).to_have_count(1)
    wire.hold(IN_TURN + 1)
    for page in (ada, blas):
        expect(page.locator("#feed-rows .fr", has_text="Compaction 1")).to_have_count(1)
    assert Order.objects.filter(run=run, kind="compact").count() == 1
    assert Episode.objects.filter(run=run).count() == 1


def test_a_screen_that_has_not_seen_the_last_compaction_does_not_make_another(
    run: Run, wire: Wire, house: LiveHouse
) -> None:
    ada = house.page(path(run))
    seen = int(ada.get_attribute("#run", "data-seq"))
    compacted(ada)
    wire.hold(IN_TURN + 1)
    expect(ada.locator("#feed-rows .fr", has_text="Compaction 1")).to_be_visible()
    client, address = house.client(), path(run, "orders/compact/")
    late = client.post(address, {"seen_seq": seen}, headers={"accept": "application/json"})
    assert late.status_code == 409
    assert "compacted at event" in late.json()["reason"]
    until_turn(run, IN_TURN)


def test_a_summary_that_fails_changes_nothing_and_is_shown(wire: Wire, house: LiveHouse) -> None:
    wire.hold(IN_TURN)
    run = begin("rehearsal/orders+summary_empty", policy="demo")
    ada = house.page(path(run))
    wait_until(lambda: wire.holds(IN_TURN), 60, "the ninth turn")
    version = Run.objects.get(pk=run.pk).version
    compacted(ada)
    wire.hold(IN_TURN + 1)
    expect(ada.locator("#answers")).to_contain_text("The window is unchanged")
    expect(ada.locator("#feed-rows").get_by_text(re.compile("failed", re.IGNORECASE)).first).to_be_visible()
    assert Order.objects.get(run=run).state == "rejected"
    assert Run.objects.get(pk=run.pk).version == version
    wait_until(lambda: wire.holds(IN_TURN + 1), what="the run to go on")
