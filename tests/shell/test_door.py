"""Who comes in: the one with the link, once; and only from our own pages may anything be changed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agentdash import door

OURS = "http://testserver"


@pytest.fixture
def stranger(db: None) -> Client:
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def ada(db: None) -> Client:
    client = Client()
    client.force_login(door.local())
    return client


def a_link(to: str = "/") -> str:
    return door.link(settings.AGENTDASH_HOME, OURS, to).removeprefix(OURS)


def test_the_link_lets_its_first_visitor_in_and_leaves_the_address_bar(stranger: Client) -> None:
    answer = stranger.get(a_link())
    assert (answer.status_code, answer["Location"], answer["Referrer-Policy"]) == (303, "/", "no-referrer")
    assert stranger.get("/").status_code == 200


def test_a_spent_link_says_so_and_names_the_cure(db: None) -> None:
    link = a_link()
    Client().get(link)
    second = Client().get(link)
    assert second.status_code == 403
    assert "agentdash link" in second.content.decode()


def test_whoever_is_in_may_open_a_spent_link_again(stranger: Client) -> None:
    link = a_link("/search/")
    stranger.get(link)
    assert stranger.get(link)["Location"] == "/search/"


def test_an_old_link_is_worth_nothing(stranger: Client) -> None:
    link = a_link()
    long_ago = time.time() - door.LINK_SECONDS - 1
    for shelved in (Path(settings.AGENTDASH_HOME) / "links").iterdir():
        os.utime(shelved, (long_ago, long_ago))
    assert stranger.get(link).status_code == 403


def test_a_browser_that_looks_ahead_does_not_spend_the_link(stranger: Client) -> None:
    link = a_link()
    assert stranger.get(link, headers={"sec-purpose": "prefetch"}).status_code == 204
    assert stranger.get(link).status_code == 303


@pytest.mark.parametrize("whole", [True, False])
def test_a_link_or_its_token_can_be_pasted(db: None, whole: bool) -> None:
    link = a_link()
    pasted = OURS + link if whole else link.partition("token=")[2]
    assert Client().post("/login", {"token": pasted}).status_code == 303


def test_the_link_leads_to_the_page_it_was_made_for_and_nowhere_else(db: None) -> None:
    assert Client().get(a_link("/search/?q=x"))["Location"] == "/search/?q=x"
    assert Client().get(a_link("https://evil.example/"))["Location"] == "/"
    assert Client().get(a_link("//evil.example/"))["Location"] == "/"


def test_the_token_is_not_in_the_folder_that_knows_it(db: None) -> None:
    token = a_link().partition("token=")[2]
    shelf = Path(settings.AGENTDASH_HOME) / "links"
    assert all(token not in one.name and one.read_bytes() == b"" for one in shelf.iterdir())


def test_strangers_are_shown_the_door(stranger: Client) -> None:
    assert stranger.get("/runs/r-zzzzz/")["Location"] == "/login?next=%2Fruns%2Fr-zzzzz%2F"
    assert stranger.get("/", headers={"accept": "application/json"}).status_code == 401
    fragment = stranger.get("/", headers={"hx-request": "true"})
    assert (fragment.status_code, fragment["HX-Redirect"]) == (401, "/login")


def test_the_door_itself_and_healthz_are_open(stranger: Client) -> None:
    assert stranger.get("/login").status_code == 200
    assert stranger.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver:9999"},
        {"origin": "https://testserver"},
        {"origin": OURS, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_origin_changes_nothing(ada: Client, headers: dict[str, str]) -> None:
    answer = ada.post("/runs/", {"goal": "x"}, headers=headers)
    assert answer.status_code == 403
    assert "another origin" in answer.content.decode()


def test_our_own_origin_still_needs_the_csrf_token(stranger: Client) -> None:
    stranger.get(a_link())
    headers = {"origin": OURS, "sec-fetch-site": "same-origin"}
    assert stranger.post("/runs/", {"goal": "x"}, headers=headers).status_code == 403


def test_another_host_is_refused(ada: Client) -> None:
    assert ada.get("/", headers={"host": "evil.example"}).status_code == 400
    assert ada.get("/", headers={"host": "127.0.0.1.evil.example:8765"}).status_code == 400


def test_the_session_cookie_is_of_this_port_and_closed_to_scripts(stranger: Client) -> None:
    stranger.get(a_link())
    cookie = stranger.cookies["agentdash_8765"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


@pytest.mark.parametrize("path", ["/", "/login", "/healthz", "/no-such-page", "/search/"])
def test_every_answer_carries_the_policy(ada: Client, path: str) -> None:
    said: Any = ada.get(path)
    policy = said["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert said["X-Content-Type-Options"] == "nosniff"
    assert said["Cross-Origin-Opener-Policy"] == said["Cross-Origin-Resource-Policy"] == "same-origin"
