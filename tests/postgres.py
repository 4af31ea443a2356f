"""The twins of conftest's database fixtures for Postgres: set AGENTDASH_TEST_DATABASE_URL and the suite runs there.

The address names a server and a user that may create databases. Every test gets a copy of a migrated template.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from agentdash import env

URL = os.environ.get("AGENTDASH_TEST_DATABASE_URL", "")


@pytest.fixture(scope="session")
def template_database(django_db_blocker: Any) -> Iterator[str]:
    """The name of a migrated, empty database. It goes at the end."""
    name = f"agentdash_template_{uuid.uuid4().hex[:8]}"
    execute("CREATE DATABASE {}", name)
    with django_db_blocker.unblock():
        point_to(name)
        call_command("migrate", verbosity=0)
        connections.close_all()
    yield name
    execute("DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def _django_db_helper(template_database: str, django_db_blocker: Any) -> Iterator[None]:
    """A copy of the template for one test, with real commits."""
    name = f"agentdash_story_{uuid.uuid4().hex[:8]}"
    execute("CREATE DATABASE {} TEMPLATE {}", name, template_database)
    with django_db_blocker.unblock():
        point_to(name)
        yield
        connections.close_all()
    execute("DROP DATABASE {} WITH (FORCE)", name)


def point_to(name: str) -> None:
    """All connections made from now on, in any thread, are to this database."""
    connections.close_all()
    wanted = {**env.database(URL), "NAME": name, "OPTIONS": {}}
    connections.settings["default"] = {**connections.settings["default"], **wanted}
    if hasattr(connections._connections, "default"):
        del connections._connections.default


def execute(statement: str, *names: str) -> None:
    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
