"""Brings the database to the shape this version needs, and leaves databases of others alone."""

from __future__ import annotations

import threading
import time

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from agentdash import home

MARK = "runs_run"
PATIENCE_SECONDS = 20.0


class ForeignDatabase(Exception):
    """The database belongs to something else. The message says what to do."""


class Unreachable(Exception):
    """The database does not answer. The message says what to check."""


def migrate(*, adopt: bool = False) -> None:
    """Make or change the tables. Raises ForeignDatabase for one that holds tables but none of ours."""
    tables = _tables()
    if tables and MARK not in tables and not adopt:
        raise ForeignDatabase(
            f"The database {connection.settings_dict['NAME']} holds tables, but none of agentdash. Name another "
            "database, or put ours beside what is there: agentdash migrate --adopt"
        )
    if _behind():
        call_command("migrate", verbosity=0, interactive=False)


def ready() -> None:
    """For commands that only read or ask: tables exist after this. Whoever drives the home makes them itself."""
    if not _tables() or _behind():
        if not settings.AGENTDASH.embedded:
            raise ForeignDatabase(
                "The database lacks tables of this version. Make them first: agentdash migrate"
            )
        try:
            with home.take(settings.AGENTDASH_HOME, ""):
                migrate()
        except home.HomeTaken:
            _wait_for_tables()


def _wait_for_tables() -> None:
    end, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while _behind() and time.monotonic() < end:
        pause.wait(0.1)


def _tables() -> list[str]:
    try:
        return connection.introspection.table_names()
    except OperationalError as error:
        cure = (
            "Check DATABASE_URL, and that the server runs."
            if settings.AGENTDASH.database_url
            else "See agentdash doctor."
        )
        raise Unreachable(f"The database does not answer: {str(error).splitlines()[0]}. {cure}") from None


def _behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
