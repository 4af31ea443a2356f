"""The run page looks at a turn of the past while the run goes on, and comes back to all of the present."""

from __future__ import annotations

from tests.living import In, expect
from tests.present.conftest import READ

from .stage import PHONE, Stage

MANY = 120
"""Turns that are more than the socket sends one by one."""

SLOW_FEED = """() => {
    const real = window.fetch;
    const feed = document.getElementById("run").dataset.feedUrl;
    window.fetch = async (url, ...rest) => {
        const answer = await real(url, ...rest);
        if (url !== feed) return answer;
        const html = await answer.text();
        await new Promise((arrive) => (window.arrive = arrive));
        return new Response(html);
    };
    const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get;
    window.heard = "";
    Object.defineProperty(MessageEvent.prototype, "data", { get() {
        const said = data.call(this);
        window.heard += said;
        return said;
    } });
}"""
"""The present's feed, as the server drew it, stays on its way until `arrive()`; `heard` is what the socket brought."""


def test_looking_at_the_past_is_in_the_address_and_the_present_waits(stage: Stage) -> None:
    page = stage.open()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**?turn=10")
    expect(page.locator("#past")).to_contain_text("You are looking at turn 10")
    expect(page.locator("#panel")).to_contain_text("As of turn 10")
    stage.act(lambda scene: scene.turns(1, READ, words="Meanwhile."))
    expect(page.locator("#vitals .about")).to_contain_text("turn 13")
    expect(page.locator("#feed-past")).not_to_contain_text("Meanwhile.")
    page.go_back()
    expect(page.locator("#past")).to_be_hidden()
    expect(page.locator("#feed-rows")).to_contain_text("Meanwhile.")
    page.go_forward()
    expect(page.locator("#past")).to_contain_text("You are looking at turn 10")
    page.keyboard.press("End")
    expect(page.locator("#past")).to_be_hidden()


def test_a_copied_link_opens_its_tab_on_a_phone_too(stage: Stage) -> None:
    page = stage.open("?tab=log", **PHONE)
    expect(page.locator("#panel")).to_be_visible()
    expect(page.locator("#tab-log")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#feed")).to_be_hidden()


def test_what_happens_while_the_present_is_drawn_again_is_not_lost(stage: Stage) -> None:
    """Turns, their results and a compaction that come between the server's drawing and its arrival."""
    page = stage.open()
    page.keyboard.press("Home")
    expect(page.locator("#past")).to_contain_text("You are looking at turn 1.")
    page.evaluate(SLOW_FEED)
    page.keyboard.press("End")
    page.wait_for_function("() => window.arrive")
    stage.act(lambda scene: scene.turns(3, READ, words="In between."))
    stage.act(lambda scene: scene.compact())
    page.wait_for_function("() => window.heard.includes('window.edited')")
    page.evaluate("window.arrive()")
    expect(page.locator("#feed-rows .cut")).to_contain_text("Compaction 1")
    expect(page.locator("#vitals .about")).to_contain_text("turn 15")
    assert rows(page) == rows(stage.open())


def test_a_snapshot_while_the_past_is_looked_at_leaves_the_past_alone(stage: Stage) -> None:
    page = stage.open()
    page.keyboard.press("Home")
    expect(page.locator("#past")).to_contain_text("You are looking at turn 1.")
    page.context.set_offline(True)
    expect(page.locator("#offline")).to_contain_text("Reconnecting, nothing is lost.")
    stage.act(lambda scene: scene.turns(MANY, READ))
    page.context.set_offline(False)
    expect(page.locator("#vitals .about")).to_contain_text(f"turn {12 + MANY}")
    expect(page.locator("#feed-past")).to_be_visible()
    expect(page.locator("#feed-live")).to_be_hidden()
    page.keyboard.press("End")
    expect(page.locator("#feed-rows")).to_be_visible()
    assert rows(page) == rows(stage.open())


def rows(page: In) -> list[str]:
    """Each row of the feed and what it says, however often it stands there."""
    return page.locator("#feed-rows > *").evaluate_all("(all) => all.map((row) => row.id + row.textContent)")


def test_a_copied_link_opens_the_same_turn_and_tab(stage: Stage) -> None:
    page = stage.open("?turn=4&tab=log")
    expect(page.locator("#past")).to_contain_text("You are looking at turn 4")
    expect(page.locator("#tab-log")).to_have_attribute("aria-selected", "true")
