"""What every test may ask for. The house with server, worker and browser is in tests/living.py."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

import agentdash.celery  # noqa: F401 (else a hint would look for a broker that nobody set up)

pytest_plugins = ["tests.living"]

PAUSE = threading.Event()


def wait_until(look: Callable[[], Any], seconds: float = 20, what: str = "") -> Any:
    """The first true answer of `look`, asked again and again. Fails with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        PAUSE.wait(0.02)
    raise AssertionError(f"waited {seconds} s in vain for {what or look}")


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Path:
    """A migrated, empty SQLite file. Every story gets a copy: append-only triggers forbid emptying tables."""
    path = tmp_path_factory.mktemp("template") / "template.sqlite3"
    with django_db_blocker.unblock():
        point_to(path)
        call_command("migrate", verbosity=0)
        connections["default"].cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connections.close_all()
    return path


def point_to(path: Path) -> None:
    """All connections made from now on, in any thread, are to this file."""
    connections.close_all()
    connections.settings["default"]["NAME"] = str(path)


@pytest.fixture(scope="session")
def django_db_setup(template_database: Path) -> None:
    """Takes the place of pytest-django's: there is no test database, only copies of the template."""


@pytest.fixture
def _django_db_helper(template_database: Path, tmp_path: Path, django_db_blocker: Any) -> Iterator[None]:
    """Takes the place of pytest-django's: what `db` and the mark `django_db` do is a fresh copy, real commits."""
    path = tmp_path / "story.sqlite3"
    shutil.copyfile(template_database, path)
    with django_db_blocker.unblock():
        point_to(path)
        yield
        connections.close_all()
