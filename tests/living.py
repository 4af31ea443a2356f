"""A house that lives: server and worker in the test's own process, and a browser that looks at it.

`live_house.page("/")` opens a page as the person the house belongs to. Playwright's objects live in a thread of their
own: its loop in the test's thread would make Django refuse every query there. `In` hands calls over, so that a page
is used as if it were here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

CHROMIUMS = ("chromium", "google-chrome", "google-chrome-stable")
LISTEN = """addEventListener("securitypolicyviolation", (e) =>
  agentdashRefused(`${e.violatedDirective} refused ${e.blockedURI || "inline"} at ${e.sourceFile}:${e.lineNumber}`))"""


class In:
    """An object of Playwright, used from the test's thread: whatever is asked of it happens in the browser's."""

    def __init__(self, thread: ThreadPoolExecutor, inner: Any) -> None:
        self._thread = thread
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return self._wrapped(self._do(lambda: getattr(self._inner, name)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bare = [inner_of(arg) for arg in args]
        named = {name: inner_of(arg) for name, arg in kwargs.items()}
        return self._wrapped(self._do(lambda: self._inner(*bare, **named)))

    def _do(self, act: Callable[[], Any]) -> Any:
        return self._thread.submit(act).result(90)

    def _wrapped(self, found: Any) -> Any:
        if isinstance(found, list):
            return [self._wrapped(one) for one in found]
        ours = callable(found) or type(found).__module__.startswith("playwright")
        return In(self._thread, found) if ours else found


def inner_of(thing: Any) -> Any:
    return thing._inner if isinstance(thing, In) else thing


def expect(thing: Any) -> Any:
    """Playwright's expect, for pages and locators of a live house."""
    from playwright.sync_api import expect as playwright_expect

    return In(thing._thread, playwright_expect)(thing)


@pytest.fixture(scope="session")
def browser() -> Iterator[In]:
    """A Chromium: the system's, AGENTDASH_CHROMIUM, or Playwright's own."""
    from playwright.sync_api import Error, sync_playwright

    names = [os.environ.get("AGENTDASH_CHROMIUM") or "", *CHROMIUMS]
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    thread = ThreadPoolExecutor(1, "playwright")
    playwright = In(thread, sync_playwright()).start()
    try:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
    except Error as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(
            f"No browser: {error.message.splitlines()[0]} Install chromium, or name one in AGENTDASH_CHROMIUM."
        )
    yield started
    started.close()
    playwright.stop()
    thread.shutdown()


@dataclass
class LiveHouse:
    """`refused` and `errors` collect what the content security policy stopped, and what scripts threw."""

    address: str
    browser: In
    refused: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    contexts: list[In] = field(default_factory=list)

    def client(self, user: Any = None) -> Client:
        """Django's test client with a session: for JSON, and for what needs no browser."""
        from agentdash.door import local

        client = Client(headers={"host": self.address.removeprefix("http://")})
        client.force_login(user or local())
        return client

    def context(self, user: Any = None, **options: Any) -> In:
        """A browser profile that is logged in (as the house's person unless told otherwise)."""
        context = self.browser.new_context(**options)
        cookies = [
            {"name": name, "value": morsel.value, "url": self.address}
            for name, morsel in self.client(user).cookies.items()
        ]
        context.add_cookies(cookies)
        return self._watched(context)

    def stranger(self, **options: Any) -> In:
        """A browser profile without a session."""
        return self._watched(self.browser.new_context(**options))

    def page(self, path: str = "/", user: Any = None, **options: Any) -> In:
        """A page of the house, open and loaded. `options` go to the browser: viewport, color_scheme, …"""
        page = self.context(user, **options).new_page()
        page.goto(self.address + path)
        return page

    def _watched(self, context: In) -> In:
        context.set_default_timeout(15_000)
        context.expose_function("agentdashRefused", lambda what: self.refused.append(what))
        context.add_init_script(LISTEN)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.contexts.append(context)
        return context


@pytest.fixture
def live_house(db: None, browser: In) -> Iterator[LiveHouse]:
    """Server, worker and browser. At the end nothing may have offended the content security policy or thrown."""
    from agentdash.embedded import running

    with running() as address:
        house = LiveHouse(address=address, browser=browser)
        yield house
        for context in house.contexts:
            context.close()
    assert house.refused == [], "the content security policy refused something"
    assert house.errors == [], "a script threw"


@pytest.fixture
def working_house(db: None) -> Iterator[str]:
    """Server and worker without a browser; yields the address."""
    from agentdash.embedded import running

    with running() as address:
        yield address


def session_cookie(client: Client) -> str:
    """The header that a browser with this client's session would send."""
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
