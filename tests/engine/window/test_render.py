"""From a window to the bytes of a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.engine.errors import InvalidWindow
from runs.engine.events import Frame
from runs.engine.messages import canonical, sha256, text
from runs.engine.middleware.base import Asked
from runs.engine.window import lines as lines_
from runs.engine.window import render, validate
from runs.engine.window.render import Renderer, frame_of, model_view
from tests.cases.ground import Ground

from ..stage import bot, gave, laid, lines, said, talk, use, user

MARK = {"cache_control": {"type": "ephemeral"}}


def sent(ground: Ground, **more: Any) -> tuple[bytes, dict[str, Any]]:
    desk = ground.desk
    rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 7, **more)
    return rendered.request.body, json.loads(rendered.request.body)


def marked(messages: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [
        (at, spot)
        for at, message in enumerate(messages)
        for spot, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_the_bytes_are_the_canonical_form_of_the_body() -> None:
    data, body = sent(
        laid(
            [
                user("naïve 你好 👩‍🔬"),
                bot("x\u2028y", use("a", deep={"b": [1.5, None, True]})),
                user(gave("a", "z")),
            ]
        )
    )
    assert data == canonical(body)


def test_the_request_names_llm_run_and_turn_and_is_streamed() -> None:
    data, body = sent(laid(talk(2)))
    assert body["model"] == "canned"
    assert body["metadata"] == {"user_id": "r-case0:7"}
    assert body["stream"] is True
    assert body["max_tokens"] == 1000
    assert Renderer("r-case0").slug == "r-case0"


def test_two_marks_slide_the_tail_and_the_tail_before_it_and_one_stands_where_edits_begin() -> None:
    """Trap 4: with one mark, a turn of more than 20 blocks reads nothing from the cache."""
    ground = laid(talk(3, calls=25))
    _, body = sent(ground)
    assert marked(body["messages"]) == [(0, 0), (4, 24), (6, 24)]
    assert "cache_control" in body["system"][-1]


def test_the_tail_that_was_marked_is_marked_once_more_in_the_next_request() -> None:
    before = marked(sent(laid(talk(3)))[1]["messages"])
    after = marked(sent(laid(talk(4)))[1]["messages"])
    assert before[-1] in after


def test_appending_leaves_the_prefix_byte_for_byte() -> None:
    short, long = (sent(laid(talk(turns)))[1]["messages"] for turns in (4, 5))
    for message in (*short, *long):
        for block in message["content"]:
            block.pop("cache_control", None)
    assert long[: len(short)] == short


def test_a_question_about_the_window_adds_a_block_and_no_mark() -> None:
    ground = laid(talk(3))
    _, plain = sent(ground)
    _, aside = sent(ground, aside="Summarise.", max_tokens=300)
    assert aside["messages"][-1]["content"][-1] == {"type": "text", "text": "Summarise."}
    assert marked(aside["messages"]) == marked(plain["messages"])[1:2]
    assert aside["metadata"]["user_id"].endswith(":summary")
    assert aside["max_tokens"] == 300
    assert aside["tools"] == plain["tools"]


def test_a_fresh_renderer_gives_the_same_bytes_and_so_does_the_view_of_a_past_turn() -> None:
    ground = laid(talk(9, size=60), replies=["Short."])
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    ground.take(ground.technique("compact").compact(Asked(keep=4)))
    desk = ground.desk
    data, _ = sent(ground)
    rebuilt = model_view(desk.frame, desk.window.entries, list(desk.window.messages.values()), desk.slug, 7)
    assert rebuilt.request.body == data
    assert rebuilt.request.sha256 == sha256(data)


def test_an_archive_in_any_order_gives_the_same_view() -> None:
    ground = laid(talk(5, size=60))
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    desk = ground.desk
    known = list(desk.window.messages.values())
    views = {
        model_view(desk.frame, desk.window.entries, part, desk.slug, 7).request.sha256
        for part in (known, known[::-1])
    }
    assert len(views) == 1


def test_what_was_drawn_and_not_applied_leaves_no_trace() -> None:
    ground = laid(talk(3), replies=["word " * 5_000])
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    said(ground, "Then answer in JSON only.")
    _, body = sent(ground)
    assert body["messages"][-1]["content"][-1]["text"] == "Then answer in JSON only."
    assert "summary" not in json.dumps(body)


def test_old_messages_are_not_dumped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = laid(talk(40))
    sent(ground)
    dumped: list[object] = []
    for module in (render, lines_):
        monkeypatch.setattr(module, "canonical", lambda value: dumped.append(value) or canonical(value))
    sent(ground)
    assert len(dumped) < 12


def test_a_window_that_cannot_be_mended_fails_before_money_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "MOST_MESSAGES", 2)
    with pytest.raises(InvalidWindow, match="cannot be sent: messages: 3 are more than 2"):
        sent(laid([user("go"), bot("hi"), user("x")]))


def test_a_request_over_the_apis_bytes_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MOST_BYTES", 2_000)
    with pytest.raises(InvalidWindow, match="bytes"):
        sent(laid([user(lines("x", 200))]))


def framed(ground: Ground, tools: list[dict[str, Any]]) -> Frame:
    return frame_of(
        llm="canned", system="You are.", tools=tools, params={"max_tokens": 5}, shape=ground.desk.shape
    )


def test_more_than_four_cache_marks_are_refused() -> None:
    ground = laid(talk(3))
    tool = {"name": "t", "input_schema": {"type": "object"}}
    ground.desk.frame = framed(ground, [tool])
    sent(ground)
    ground.desk.frame = framed(ground, [{**tool, **MARK}])
    with pytest.raises(InvalidWindow, match="5 cache marks"):
        sent(ground)


def test_a_frame_is_known_by_everything_that_goes_into_a_request() -> None:
    shape = laid([user("go")]).desk.shape
    plain = {"llm": "a", "system": "s", "tools": [], "params": {"max_tokens": 5}, "shape": shape}
    base = frame_of(**plain)  # type: ignore[arg-type]
    assert frame_of(**plain) == base  # type: ignore[arg-type]
    for change in ({"llm": "b"}, {"system": "t"}, {"params": {"max_tokens": 6}}, {"tools": [{"name": "x"}]}):
        assert frame_of(**{**plain, **change}).sha256 != base.sha256  # type: ignore[arg-type]
    assert base.system == (text("s"),)
    assert frame_of(**{**plain, "system": ""}).system == ()  # type: ignore[arg-type]
