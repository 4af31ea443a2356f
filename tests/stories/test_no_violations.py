"""Every page and dialog in both themes: nothing that the content security policy refuses, no script that throws.

`house` listens for `securitypolicyviolation` and for errors of scripts in every page, and fails when it heard one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runs.models import Edit, Run
from tests.conftest import wait_until
from tests.living import In, LiveHouse, expect

from .telling import begin, path
from .wire import Wire

FORBIDDEN = re.compile(r"<[^>]+\s(style|on[a-z]+)\s*=|<style|<script(?![^>]*\bsrc=)", re.IGNORECASE)


def pages(run: Run) -> Iterator[str]:
    yield from (
        "/",
        "/?view=cards",
        "/?group=ended",
        "/?q=nothing",
        "/runs/new/",
        "/search/",
        "/search/?q=lamp",
    )
    yield from (
        path(run, rest) for rest in ("", "?turn=20", "?turn=1", "archive/", "archive/?q=race&turn=12")
    )
    yield from (path(run, f"?tab={tab}") for tab in ("notes", "episodes", "policy", "log"))
    yield from (path(run, f"window/{rest}") for rest in ("", "?turn=40", "?turn=40&as=json"))
    for edit in Edit.objects.filter(run=run):
        yield path(run, f"compactions/{edit.number}/")
    yield path(run, f"compactions/{Edit.objects.filter(run=run, kind='compact')[0].number}/entries/system/")
    yield from ("/runs/r-00000/", "/nowhere/", path(run, "compactions/999/"), path(run, "window/?turn=999"))


def test_no_page_offends_the_policy_it_is_served_with(finished: Run, house: LiveHouse) -> None:
    page = house.context().new_page()
    for at, address in enumerate(pages(finished)):
        page.emulate_media(color_scheme="dark" if at % 2 else "light")
        answer = page.goto(house.address + address)
        assert "default-src 'none'" in answer.headers["content-security-policy"], address
        assert not FORBIDDEN.search(answer.text()), f"{address}: {FORBIDDEN.search(answer.text())}"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_no_dialog_offends_it_either(wire: Wire, house: LiveHouse) -> None:
    wire.hold(4)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(4), 60, "the fourth turn")
    ada = house.page(path(run))
    for button in ("Compact…", "Clear…"):
        ada.get_by_role("button", name=re.compile(button)).click()
        closed(ada, ada.locator("#dialog"))
    ada.keyboard.press("?")
    closed(ada, ada.locator("#keys"))
    ada.get_by_role("button", name="Show as a table").click()
    expect(ada.locator("#chart-table table")).to_be_visible()
    ada.goto(house.address + "/")
    ada.keyboard.press("n")
    closed(ada, ada.locator("#dialog"))


def closed(ada: In, dialog: In) -> None:
    expect(dialog).to_be_visible()
    ada.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_run_that_goes_on_is_drawn_without_offence(house: LiveHouse) -> None:
    """Fragments from the socket obey it too: turns, results, errors, edits, the end."""
    run = begin("rehearsal/job-12", policy="demo", limit=16_000)
    ada = house.page(path(run))
    expect(ada.locator("#banner")).to_contain_text("Done after 13 turns.", timeout=60_000)


def test_the_door_stands_open_without_offence(house: LiveHouse) -> None:
    zoe = house.stranger().new_page()
    for address in ("/login", "/login?token=wrong", "/runs/r-00000/"):
        zoe.goto(house.address + address)
        expect(zoe.get_by_role("heading", name="Open this dashboard")).to_be_visible()
