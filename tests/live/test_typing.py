"""Typing is shown as it comes, a few times a second, and may be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs.engine.events import Delta
from runs.live import bell
from runs.models import Run

Open = Callable[..., Any]


def test_letters_of_one_block_are_joined(open_page: Open, run: Run) -> None:
    page = open_page()
    page.say(t="hello", seq=0)
    page.up_to_date()
    for at, letter in enumerate("typing"):
        bell.type(run.pk, Delta(turn=3, block=0, offset=at, text=letter))
    text, messages = "", 0
    while text != "typing":
        delta = page.hear()
        assert (delta["t"], delta["turn"], delta["block"], delta["offset"]) == ("delta", 3, 0, len(text))
        text, messages = text + delta["text"], messages + 1
    assert messages <= 2


def test_a_long_text_comes_in_pieces_of_four_kilobytes_cut_between_characters(
    open_page: Open, run: Run
) -> None:
    page = open_page()
    page.say(t="hello", seq=0)
    page.up_to_date()
    whole = "a" + "日本" * 2_000
    bell.type(run.pk, Delta(turn=1, block=1, offset=0, text=whole, block_type="thinking"))
    text = ""
    while text != whole:
        delta = page.hear()
        assert delta["offset"] == len(text)
        assert delta["block_type"] == "thinking"
        assert len(delta["text"].encode()) <= 4_000
        text += delta["text"]


def test_events_come_before_the_letters_that_follow_them(
    open_page: Open, run: Run, happen: Callable[..., int]
) -> None:
    page = open_page()
    page.say(t="hello", seq=0)
    page.up_to_date()
    happen(1)
    bell.type(run.pk, Delta(turn=2, block=0, offset=0, text="next"))
    assert [page.hear()["t"], page.hear()["t"]] == ["events", "delta"]
