"""The run page in a browser: it follows the run, leaves the reader where they are, and answers every order once."""

from __future__ import annotations

from runs.engine.events import Delta
from runs.live import bell
from runs.models import Order
from runs.store import archive
from tests import story
from tests.conftest import wait_until
from tests.living import expect
from tests.present.conftest import READ, RED

from .stage import PHONE, Stage


def test_a_turn_appears_as_it_happens_and_the_gauge_moves(stage: Stage) -> None:
    page = stage.open()
    stage.act(lambda scene: scene.turns(1, RED, words="The tests first."))
    expect(page.locator("#feed-rows")).to_contain_text("The tests first.")
    expect(page.locator("#feed-rows .err .loud")).to_contain_text("AssertionError: 41 != 40")
    expect(page.locator("#vitals .about")).to_contain_text("turn 13")
    expect(page.locator("#readout-turn")).to_have_text("Turn 13")
    expect(page.locator("#announce")).to_have_text("Turn 13 finished")


def test_typing_is_seen_and_gone_when_the_turn_lands(stage: Stage) -> None:
    page = stage.open()
    scene = stage.scene
    scene.turn += 1
    scene.open()
    stage.ring()
    bell.type(scene.run.pk, Delta(turn=scene.turn, block=0, offset=0, text="I look at ", block_type="text"))
    bell.type(scene.run.pk, Delta(turn=scene.turn, block=0, offset=10, text="the <b>lock", block_type="text"))
    expect(page.locator("#typing")).to_contain_text("I look at the <b>lock")
    stage.act(lambda scene: scene.answer(story.Step(words="I look at the lock.")))
    expect(page.locator("#typing .fr")).to_have_count(0)
    expect(page.locator("#feed-rows")).to_contain_text("I look at the lock.")


def test_who_reads_further_up_is_left_there_and_told_of_new_turns(stage: Stage) -> None:
    page = stage.open()
    page.evaluate("document.getElementById('feed-scroll').scrollTop = 0")
    page.locator("#jump").wait_for(state="hidden")
    stage.act(lambda scene: scene.turns(2, READ))
    expect(page.locator("#jump")).to_contain_text("2 new turns")
    assert page.evaluate("document.getElementById('feed-scroll').scrollTop") == 0
    page.locator("#jump").click()
    expect(page.locator("#jump")).to_be_hidden()
    assert page.evaluate(
        "(s => s.scrollHeight - s.scrollTop - s.clientHeight < 80)(document.getElementById('feed-scroll'))"
    )


def test_a_compaction_is_marked_everywhere_at_once(stage: Stage) -> None:
    page = stage.open()
    stage.act(lambda scene: scene.compact())
    edit = stage.scene.run.edits.get()
    expect(page.locator(".flag.compaction")).to_have_count(1)
    expect(page.locator("#feed-rows .cut")).to_contain_text("Compaction 1")
    expect(page.locator("#e-2-0 .tag")).to_have_text("summarised in #1")
    expect(page.locator("#count-episodes")).to_have_text("1")
    expect(page.locator("#vitals [role=meter]")).to_have_attribute("aria-valuenow", str(edit.tokens_after))
    page.locator(".flag.compaction").click()
    page.wait_for_url("**/compactions/1/")


def test_a_click_on_a_bar_selects_its_turn(stage: Stage) -> None:
    page = stage.open()
    box = page.locator("#plot .u-over").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.15, box["y"] + box["height"] / 2)
    page.wait_for_url("**?turn=*")
    turn = page.url.split("turn=")[1]
    expect(page.locator("#past [data-turn]")).to_have_text(turn)


def test_a_message_is_sent_with_enter_and_its_delivery_is_told_once(stage: Stage) -> None:
    page = stage.open()
    page.keyboard.press("i")
    page.keyboard.type("Keep the format.")
    page.keyboard.press("Enter")
    expect(page.locator("#chips")).to_contain_text("Keep the format.")
    expect(page.locator("#say-text")).to_have_value("")
    order = Order.objects.get(run=stage.scene.run)
    assert (order.kind, order.args["how"], order.seen_seq is not None) == ("say", "steer", True)
    stage.act(lambda scene: scene.say("Keep the format."))
    archive.append(stage.scene.claim, answers=[archive.OrderAnswer(order_id=order.pk, state="applied")])
    stage.ring()
    expect(page.locator(f"#answer-{order.pk}")).to_have_count(1)
    expect(page.locator(f"#answer-{order.pk}")).to_contain_text("Delivered")
    expect(page.locator("#chips .chip")).to_have_count(0)
    expect(page.locator("#feed-rows")).to_contain_text("Keep the format.")


def test_alt_enter_queues_and_shift_enter_breaks_the_line(stage: Stage) -> None:
    page = stage.open()
    page.locator("#say-text").fill("Then")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("stop.")
    page.keyboard.press("Alt+Enter")
    expect(page.locator("#chips")).to_contain_text("Queued")
    assert Order.objects.get(run=stage.scene.run).args == {"text": "Then\nstop.", "how": "queue"}


def test_stop_asks_once_in_place(stage: Stage) -> None:
    page = stage.open()
    page.locator(".controls > .order [data-order=stop]").click()
    expect(page.locator("#ask-stop")).to_contain_text("Archive, window and files are kept")
    page.keyboard.press("Escape")
    expect(page.locator("#ask-stop")).to_be_hidden()
    assert not Order.objects.filter(run=stage.scene.run).exists()
    page.locator(".controls > .order [data-order=stop]").click()
    page.locator("#ask-stop [data-order=stop]").click()
    wait_until(lambda: Order.objects.filter(run=stage.scene.run, kind="stop").exists(), what="the order")
    expect(page.locator("#chips")).to_contain_text("Stop")


def test_what_happens_meanwhile_takes_neither_the_question_nor_the_button_from_under_the_hand(
    stage: Stage,
) -> None:
    """Somebody writes to the agent: the same buttons, so the very same ones."""
    page = stage.open()
    page.locator(".controls [data-order=pause]").evaluate("(button) => (button.dataset.held = 'yes')")
    page.locator(".controls > .order [data-order=stop]").click()
    stage.act(lambda scene: scene.say("By the way."))
    expect(page.locator("#feed-rows")).to_contain_text("By the way.")
    expect(page.locator(".controls [data-order=pause]")).to_have_attribute("data-held", "yes")
    expect(page.locator("#ask-stop")).to_be_visible()
    archive.append(stage.scene.claim, state=archive.StateChange(state="done"))
    stage.ring()
    expect(page.locator("#ask-stop")).to_be_hidden()


def test_a_refused_order_says_why_where_it_was_given(stage: Stage) -> None:
    page = stage.open()
    archive.append(stage.scene.claim, state=archive.StateChange(state="paused", reason="person"))
    stage.ring()
    expect(page.locator("#banner")).to_contain_text("Paused")
    archive.append(stage.scene.claim, state=archive.StateChange(state="running"))
    page.locator(".controls [data-order=step]").click()
    expect(page.locator("#answers .warn")).to_contain_text("Step")


def test_a_pause_changes_pill_buttons_and_banner(stage: Stage) -> None:
    page = stage.open()
    archive.append(
        stage.scene.claim, state=archive.StateChange(state="paused", reason="spin: The same call again.")
    )
    stage.ring()
    expect(page.locator("[data-pill]")).to_have_text("Paused")
    expect(page.locator("#banner")).to_contain_text("The same call again.")
    expect(page.locator(".controls [data-order=resume]")).to_be_enabled()
    expect(page.locator(".controls [data-order=step]")).to_be_enabled()


def test_a_row_opens_with_enter_and_moves_with_j_and_k(stage: Stage) -> None:
    page = stage.open()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    opened = page.locator("#feed-rows details[open]")
    expect(opened).to_have_count(1)
    expect(opened.locator(".code").first).to_contain_text("a.py")


def test_a_page_that_was_away_catches_up_and_shows_nothing_twice(stage: Stage) -> None:
    page = stage.open()
    page.context.set_offline(True)
    expect(page.locator("#offline")).to_contain_text("Reconnecting, nothing is lost.")
    stage.act(lambda scene: scene.turns(3, READ, words="While you were away."))
    page.context.set_offline(False)
    expect(page.locator("#offline")).to_contain_text("3 turns arrived while you were away.")
    ids = page.evaluate("[...document.querySelectorAll('#feed-scroll [id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    expect(page.locator("#vitals .about")).to_contain_text("turn 15")


def test_the_table_twin_shows_the_same_turns(stage: Stage) -> None:
    page = stage.open()
    page.keyboard.press("t")
    expect(page.locator("#chart-table tbody tr")).to_have_count(12)
    page.keyboard.press("t")
    expect(page.locator("#plot")).to_be_visible()


def test_the_dialogs_open_over_the_page_and_give_the_focus_back(stage: Stage) -> None:
    page = stage.open()
    page.locator("[data-dialog=compact]").click()
    expect(page.locator("#dialog")).to_contain_text("Compact the window")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement.dataset.dialog") == "compact"


def test_on_a_phone_one_pane_shows_at_a_time(stage: Stage) -> None:
    page = stage.open(**PHONE)
    expect(page.locator("#feed")).to_be_visible()
    page.locator("#tab-notes").click()
    expect(page.locator("#feed")).to_be_hidden()
    expect(page.locator("#panel")).to_be_visible()
    page.locator("#tabs [data-pane=feed]").click()
    expect(page.locator("#feed")).to_be_visible()
    for button in ("pause", "stop"):
        box = page.locator(f".controls [data-order={button}]").first.bounding_box()
        assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
