"""Sockets are for the run's people, from pages of our own origin, and only to listen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus

from runs.live import consumers, feed, pump
from runs.models import Run
from tests.conftest import wait_until

Open = Callable[..., Any]
Happen = Callable[..., int]


def code_of(page: Any) -> int:
    """The code the server closed with, after whatever it still said."""
    try:
        while True:
            page.hear()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example", "http://127.0.0.1:9999", "http://localhost", "https://127.0.0.1"],
)
def test_a_page_of_another_origin_is_refused(open_page: Open, run: Run, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        open_page(origin=origin)
    assert refused.value.response.status_code == 403


def test_without_a_session_the_socket_closes_with_4401(open_page: Open, run: Run) -> None:
    assert code_of(open_page(cookie="")) == 4401


def test_an_unknown_run_closes_with_4404(open_page: Open, run: Run) -> None:
    assert code_of(open_page("r-zzzzz")) == 4404


def test_zoe_sees_nothing_of_adas_run(open_page: Open, run: Run) -> None:
    client = Client()
    client.force_login(get_user_model().objects.create_user("zoe"))
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    assert code_of(open_page(cookie=cookie)) == 4404


@pytest.mark.parametrize(
    "text",
    ['{"t":"compact"}', "not json", "[]", '{"t":"hello"}', '{"t":"hello","seq":"1"}', "[" * 50_000],
)
def test_anything_but_greeting_acknowledging_and_pinging_closes(open_page: Open, run: Run, text: str) -> None:
    page = open_page()
    page.line.send(text)
    assert code_of(page) == 1008


def test_bytes_are_not_understood(open_page: Open, run: Run) -> None:
    page = open_page()
    page.line.send(b"\x00")
    assert code_of(page) == 1003


def test_a_message_over_64_kilobytes_closes(open_page: Open, run: Run) -> None:
    page = open_page()
    page.line.send("x" * 70_000)
    assert code_of(page) == 1009


def test_who_talks_too_much_is_cut_off(open_page: Open, run: Run) -> None:
    page = open_page()
    with suppress(ConnectionClosed):
        for _ in range(500):
            page.say(t="ping")
    assert code_of(page) == 1008


def test_who_logs_out_hears_no_more(open_page: Open, happen: Happen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "SESSION_SECONDS", 0.0)
    page = open_page()
    page.say(t="hello", seq=0)
    page.up_to_date()
    Session.objects.all().delete()
    happen(1)
    assert code_of(page) == 4401


def test_a_browser_that_takes_nothing_is_left_and_others_are_not_held_up(
    open_page: Open, happen: Happen, run: Run, fragments: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "BLOCKED_SECONDS", 0.5)
    fragments.filling = "x" * 200_000
    happen(1)
    stuck = open_page(max_queue=1)
    stuck.say(t="hello", seq=1)
    quick = open_page()
    quick.say(t="hello", seq=1)
    happen(100)
    heard: list[int] = []
    while heard[-1:] != [101]:
        heard += [item["seq"] for item in quick.hear()["items"]]
    assert heard == list(range(2, 102))
    wait_until(lambda: feed.watchers(run.pk) == 1, what="the server to give up on the one that is stuck")
    assert code_of(stuck) in (1006, 1013)
