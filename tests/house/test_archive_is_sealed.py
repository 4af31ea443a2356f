"""The database itself refuses to change what is archived, after every way a table can be made."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection, models

from runs.models import Event
from runs.store import triggers


def wanted() -> set[str]:
    return {trigger.name for trigger in triggers.wanted(connection.vendor)}


@pytest.mark.django_db
def test_after_migrate_every_trigger_is_there() -> None:
    assert triggers.listed() == wanted()
    assert len(wanted()) >= 12


@pytest.mark.django_db
def test_after_a_table_was_made_anew_for_a_column_the_next_migrate_brings_them_back() -> None:
    """Django remakes SQLite tables for most changes, and drops their triggers silently on the way."""
    column = models.CharField(max_length=1, default="", unique=True, null=True)
    column.set_attributes_from_name("dummy")
    column.model = Event
    connection.disable_constraint_checking()
    with connection.schema_editor() as editor:
        editor.add_field(Event, column)
    lost = wanted() - triggers.listed()
    assert connection.vendor != "sqlite" or lost
    call_command("migrate", verbosity=0)
    assert triggers.listed() == wanted()
