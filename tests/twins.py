"""The two databases the store stands on, as twins: the same tests run on either.

Append-only triggers forbid emptying tables, so every test gets a copy of a migrated template, with real commits.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from agentdash import env
from agentdash.settings import SQLITE

GIVEN = os.environ.get("AGENTDASH_TEST_DATABASE_URL", "")
"""A Postgres server, and a user who may create databases: with it all tests run there."""

EMBEDDED = dict(SQLITE)
"""The product's own settings, before any test points them elsewhere."""

USUAL = "postgres" if GIVEN else "sqlite"


class Database(Protocol):
    """One of the databases. Names are what Django's NAME is: a file's path, or a database of the server."""

    name: str

    def make(self, source: str = "") -> str:
        """A new database, empty or a copy of another; its name."""

    def drop(self, name: str) -> None: ...

    def settings(self, name: str) -> dict[str, Any]: ...


@dataclass(slots=True)
class Sqlite:
    folder: Path
    name: str = "sqlite"

    def make(self, source: str = "") -> str:
        path = self.folder / f"{uuid.uuid4().hex[:8]}.sqlite3"
        for end in ("", "-wal") if source else ():  # what a thread has not closed yet is in the log beside it
            if Path(source + end).exists():
                shutil.copyfile(source + end, f"{path}{end}")
        return str(path)

    def drop(self, name: str) -> None:
        for path in self.folder.glob(f"{Path(name).name}*"):
            path.unlink(missing_ok=True)

    def settings(self, name: str) -> dict[str, Any]:
        return {**EMBEDDED, "NAME": name}


@dataclass(slots=True)
class Postgres:
    url: str
    name: str = "postgres"

    def make(self, source: str = "") -> str:
        name = f"agentdash_test_{uuid.uuid4().hex[:8]}"
        self._run("CREATE DATABASE {} TEMPLATE {}", name, source or "template1")
        return name

    def drop(self, name: str) -> None:
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def settings(self, name: str) -> dict[str, Any]:
        """Without the pool: its connections would outlive a test, and a database that is in use is no template."""
        wanted = env.database(self.url)
        options = wanted["OPTIONS"]
        assert isinstance(options, dict)
        return {**wanted, "NAME": name, "OPTIONS": {key: options[key] for key in options if key != "pool"}}

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@dataclass(slots=True)
class Twin:
    """One of the two, its migrated template, and the copies that tests work on."""

    database: Database
    template: str = ""
    kept: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.template = self.keep(self.database.make())
        self.point_to(self.template)
        call_command("migrate", verbosity=0)
        connections.close_all()

    def keep(self, name: str) -> str:
        """The database stays until the session ends."""
        self.kept.append(name)
        return name

    def point_to(self, name: str) -> None:
        """All connections made from now on, in any thread, are to this database."""
        connections.close_all()
        wanted, now = self.database.settings(name), connections.settings["default"]
        other = wanted["ENGINE"] != now["ENGINE"]
        now.update(wanted)  # in place: it is what connections of other threads open themselves by
        if other and hasattr(connections._connections, "default"):
            del connections["default"]

    @contextmanager
    def empty(self) -> Iterator[str]:
        """A database without tables while the block lasts, and all connections to it."""
        name = self.database.make()
        self.point_to(name)
        yield name
        connections.close_all()
        self.database.drop(name)

    @contextmanager
    def copy(self, source: str = "") -> Iterator[str]:
        """A database of its own while the block lasts, and all connections to it: a copy of `source`."""
        name = self.database.make(source or self.template)
        self.point_to(name)
        yield name
        connections.close_all()
        if name not in self.kept:
            self.database.drop(name)

    def end(self) -> None:
        connections.close_all()
        for name in self.kept:
            self.database.drop(name)


class Twins:
    """Those of a session, each set up when a test first asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[str, Twin] = {}
        self.server: Any = None

    def of(self, name: str) -> Twin:
        if name not in self.made:
            made = Twin(Sqlite(self.folder) if name == "sqlite" else Postgres(self._address()))
            made.begin()
            self.made[name] = made
        return self.made[name]

    def _address(self) -> str:
        """The server that was named, else one of this session's own, which need not survive a power cut."""
        if GIVEN:
            return GIVEN
        from tests.chaos.servers import Postgres as Server
        from tests.chaos.servers import binaries

        if binaries() is None and "CI" not in os.environ:
            pytest.skip("Missing: postgresql. To run this: sudo apt install postgresql")
        self.server = Server(options="-c fsync=off -c full_page_writes=off -c autovacuum=off")
        self.server.begin()
        return str(self.server.url())

    def end(self) -> None:
        for made in self.made.values():
            made.end()
        if self.server:
            self.server.end()
