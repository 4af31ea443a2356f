"""What every test may ask for. The house with server, worker and browser is in tests/living.py."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import agentdash.celery  # noqa: F401 (else a hint would look for a broker that nobody set up)
from tests.twins import USUAL, Twin, Twins

pytest_plugins = ["tests.living"]

PAUSE = threading.Event()


def wait_until(look: Callable[[], Any], seconds: float = 20, what: str | Callable[[], str] = "") -> Any:
    """The first true answer of `look`, asked again and again. Fails with `what` after `seconds`; as a call, `what` says
    how things stand then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        PAUSE.wait(0.02)
    waited_for = what() if callable(what) else what or look
    raise AssertionError(f"waited {seconds} s in vain for {waited_for}")


@pytest.fixture(scope="session")
def twins(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[Twins]:
    made = Twins(tmp_path_factory.mktemp("databases"))
    yield made
    with django_db_blocker.unblock():
        made.end()


@pytest.fixture
def twin(twins: Twins, request: pytest.FixtureRequest, django_db_blocker: Any) -> Twin:
    """Which of the two databases a test stands on: the one there is an address for, and for the store's tests both."""
    with django_db_blocker.unblock():
        return twins.of(getattr(request, "param", USUAL))


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Takes the place of pytest-django's: there is no test database, only copies of a template."""


@pytest.fixture
def source() -> str:
    """What a test's database is a copy of, where it is not the empty template."""
    return ""


@pytest.fixture
def _django_db_helper(twin: Twin, source: str, django_db_blocker: Any) -> Iterator[None]:
    """Takes the place of pytest-django's: what `db` and the mark `django_db` do is a fresh copy, real commits."""
    with django_db_blocker.unblock(), twin.copy(source):
        yield
