"""Blas asks what exactly the llm saw at a turn, and gets the very bytes that were sent."""

from __future__ import annotations

import hashlib
import json
import re

from runs.models import Run
from runs.store import requests
from tests.living import LiveHouse, expect

from .conftest import Told
from .telling import path


def test_turn_by_turn_the_page_gives_the_body_the_stand_in_received(
    told: Told, finished: Run, house: LiveHouse
) -> None:
    """All of the demo's turns: before, between and after its clearings and compactions."""
    client = house.client()
    assert sorted(told.bodies) == list(range(1, finished.turn_no + 1))
    for turn, sent in told.bodies.items():
        assert client.get(path(finished, f"window/request.json?turn={turn}")).content == sent, f"turn {turn}"
        assert requests.sent(finished, turn).as_sent


def test_the_blocks_on_the_page_are_the_blocks_of_the_body(
    told: Told, finished: Run, house: LiveHouse
) -> None:
    """One row each: the tools, the system prompt, and every block of every message, in their order."""
    turn = 40
    blas = house.page(path(finished, f"window/?turn={turn}"))
    body = json.loads(told.bodies[turn])
    blocks = [block for message in body["messages"] for block in message["content"]]
    expect(blas.locator("[data-lines] details.fr-open")).to_have_count(1 + len(body["system"]) + len(blocks))
    digest = hashlib.sha256(told.bodies[turn]).hexdigest()
    expect(blas.locator("footer.keys")).to_contain_text(
        f"sha256 {digest[:12]}… is the one stored when it was sent"
    )
    last = blas.locator("[data-lines] details.fr-open").last
    last.locator("summary").click()
    expect(last.locator(".body pre")).to_have_text(readable(blocks[-1]))


def readable(block: dict[str, object]) -> re.Pattern[str]:
    content = block.get("content") or block.get("text")
    text = content if isinstance(content, str) else content[0]["text"]  # type: ignore[index]
    return re.compile(re.escape(text[:60]))


def test_the_arrows_go_from_turn_to_turn_and_m_to_the_transcript(finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished, "window/?turn=34"))
    blas.keyboard.press("ArrowRight")
    expect(blas).to_have_url(re.compile(r"turn=35$"))
    blas.keyboard.press("ArrowLeft")
    expect(blas).to_have_url(re.compile(r"turn=34$"))
    blas.keyboard.press("m")
    expect(blas).to_have_url(re.compile(r"/archive/\?turn=34$"))


def test_json_is_a_tab_and_a_download(told: Told, finished: Run, house: LiveHouse) -> None:
    blas = house.page(path(finished, "window/?turn=3"))
    blas.get_by_role("link", name="JSON", exact=True).click()
    shown = json.loads(blas.locator("pre.raw").text_content())
    assert shown == json.loads(told.bodies[3])
    download = blas.get_by_role("link", name="Download").get_attribute("href")
    answer = blas.request.get(house.address + download)
    assert answer.body() == told.bodies[3]
    assert f"{finished.slug}-turn-3.json" in answer.headers["content-disposition"]
