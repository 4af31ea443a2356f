"""The door of Ada's house: a link that works once, pages of its own origin only, and nothing at all for Zoe."""

from __future__ import annotations

import http.client
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from agentdash import door
from runs.models import Order, Run
from tests.living import LiveHouse, expect, session_cookie

from .telling import path

OTHER = "http://127.0.0.1:1"
ORIGINS = (OTHER, "http://localhost:8765", "https://127.0.0.1", "http://evil.example", "null", None)
FOREIGN = (
    {"Origin": OTHER},
    {"Origin": "null"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
)
PAGES = ("", "archive/", "window/?turn=3", "compactions/2/", "events/", "chart.json", "window/request.json")


def asked(house: LiveHouse, method: str, where: str, body: str = "", **headers: str) -> tuple[int, str]:
    """A request as any program on this machine can make it. Returns status and text."""
    line = http.client.HTTPConnection(urlsplit(house.address).netloc, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, where, body, {"Content-Type": "application/x-www-form-urlencoded", **named})
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    return answer.status, text


def test_the_link_from_the_terminal_opens_the_page_it_was_made_for_once(
    finished: Run, house: LiveHouse
) -> None:
    """Afterwards the browser is remembered, the token is out of the address, and the link is worth nothing."""
    link = door.link(settings.AGENTDASH_HOME, house.address, path(finished))
    ada = house.stranger().new_page()
    ada.goto(link)
    expect(ada).to_have_url(house.address + path(finished))
    expect(ada.get_by_role("heading", level=1)).to_be_visible()
    zoe = house.stranger().new_page()
    zoe.goto(link)
    expect(zoe.get_by_role("alert")).to_contain_text("This link was used already, or is too old.")
    expect(zoe.get_by_role("alert")).to_contain_text("agentdash link")


def test_a_pasted_link_opens_too(finished: Run, house: LiveHouse) -> None:
    ada = house.stranger().new_page()
    ada.goto(house.address + path(finished))
    expect(ada.get_by_role("heading", name="Open this dashboard")).to_be_visible()
    ada.get_by_label("Link or token").fill(door.link(settings.AGENTDASH_HOME, house.address))
    ada.get_by_role("button", name="Open").click()
    expect(ada).to_have_url(house.address + path(finished))


@pytest.mark.parametrize("rest", PAGES)
def test_zoe_gets_the_login_and_nothing_of_the_run(finished: Run, house: LiveHouse, rest: str) -> None:
    zoe = house.stranger().new_page()
    zoe.goto(house.address + path(finished, rest))
    expect(zoe).to_have_url(re.compile(r"/login\?next="))
    assert finished.title not in zoe.content()
    assert asked(house, "GET", path(finished, rest), Accept="application/json")[0] == 401


def test_zoe_hears_nothing_on_the_socket(finished: Run, house: LiveHouse) -> None:
    opening = connect(socket_of(house, finished), origin=house.address, proxy=None)
    with opening as line, pytest.raises(ConnectionClosed) as closed:
        line.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_origin_or_port_gets_no_socket(
    finished: Run, house: LiveHouse, origin: Any
) -> None:
    cookie = {"Cookie": session_cookie(house.client())}
    where = socket_of(house, finished)
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(where, origin=origin, additional_headers=cookie, proxy=None),
    ):
        pass
    assert refused.value.response.status_code == 403


def socket_of(house: LiveHouse, run: Run) -> str:
    return house.address.replace("http", "ws") + f"/ws/runs/{run.slug}/"


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_another_origin_or_port_gives_no_order(
    finished: Run, house: LiveHouse, headers: dict[str, str]
) -> None:
    cookie, token = csrf(house, finished)
    body = f"text=Hello&csrfmiddlewaretoken={token}"
    status, said = asked(house, "POST", path(finished, "orders/say/"), body, Cookie=cookie, **headers)
    assert (status, "another origin" in said) == (403, True)
    assert not Order.objects.exists()


def test_an_order_without_its_token_is_refused_and_with_it_taken(finished: Run, house: LiveHouse) -> None:
    cookie, token = csrf(house, finished)
    ours = {"Origin": house.address, "Cookie": cookie, "Accept": "application/json"}
    assert asked(house, "POST", path(finished, "orders/pause/"), "", **ours)[0] == 403
    assert not Order.objects.exists()
    status, said = asked(
        house, "POST", path(finished, "orders/pause/"), f"csrfmiddlewaretoken={token}", **ours
    )
    assert status == 409, said
    assert "the run is done" in said


def csrf(house: LiveHouse, run: Run) -> tuple[str, str]:
    """Ada's cookies, and the token of a page of hers."""
    ada = house.page(path(run))
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in ada.context.cookies())
    return cookies, ada.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value")


def test_another_host_is_refused_on_pages_and_socket(finished: Run, house: LiveHouse) -> None:
    cookie = session_cookie(house.client())
    assert asked(house, "GET", "/", Host="evil.example", Cookie=cookie)[0] == 400
    host = urlsplit(house.address).netloc
    assert asked(house, "GET", "/", Host=host, Cookie=cookie)[0] == 200


def test_a_browser_that_was_logged_out_is_told_and_not_left_waiting(finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished))
    expect(ada.locator("#live")).to_have_attribute("data-state", "ended")
    ada.context.clear_cookies()
    ada.get_by_label("Tell the agent something").fill("Hello?")
    ada.get_by_role("button", name="Send").click()
    expect(ada.locator("#answers")).to_contain_text(re.compile("not (done|sent)"))
