"""What is archived cannot be changed or removed: not through the ORM, not in SQL, not after a migration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F

from runs.models import Blob, Call, Frame, Message, Run, Turn
from runs.store import sql, triggers
from tests.builders import a_run

pytestmark = pytest.mark.django_db

TABLES = {table._meta.db_table: table for table in apps.get_app_config("runs").get_models()}
SEALED = [table for table, when in triggers.PROTECTED.items() if not when]


def refused(act: Callable[[], Any]) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        act()


@pytest.fixture(autouse=True)
def run() -> Run:
    return a_run(turns=3, order="")


def test_what_is_protected_is_what_the_contract_names() -> None:
    """Bodies, messages, frames, windows and events; turns and calls once they have ended."""
    assert set(triggers.PROTECTED) == {
        *("runs_blob", "runs_message", "runs_frame", "runs_version", "runs_event"),
        *("runs_turn", "runs_call"),
    }
    assert SEALED == ["runs_blob", "runs_message", "runs_frame", "runs_version", "runs_event"]


@pytest.mark.parametrize("table", triggers.PROTECTED)
def test_the_orm_changes_no_archived_row(table: str) -> None:
    rows = TABLES[table]._default_manager.order_by("pk")
    column = next(field.name for field in TABLES[table]._meta.fields if not field.primary_key)
    refused(lambda: rows.update(**{column: F(column)}))
    refused(lambda: rows.filter(pk=rows[0].pk).update(**{column: F(column)}))
    refused(lambda: rows[0].save())
    refused(lambda: rows.bulk_update(list(rows), [column]))
    refused(lambda: rows._raw_delete("default"))
    refused(lambda: rows.filter(pk=rows[0].pk)._raw_delete("default"))
    assert rows.count() > 0


@pytest.mark.parametrize("table", triggers.PROTECTED)
def test_sql_changes_no_archived_row(table: str) -> None:
    key = TABLES[table]._meta.pk.column
    ways = [f"UPDATE {table} SET {key} = {key}", f"DELETE FROM {table}"]
    ways += [f"DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})"]
    if connection.vendor == "postgresql":
        ways += [f"TRUNCATE {table} CASCADE", f"TRUNCATE runs_run, {table} CASCADE"]
    for way in ways:
        refused(lambda way=way: sql.execute(way))  # type: ignore[misc]


@pytest.mark.parametrize(
    "column", [field.column for field in Call._meta.fields if field.name != "late_result"]
)
def test_no_column_of_an_ended_call_changes(column: str) -> None:
    refused(lambda: sql.execute(f'UPDATE runs_call SET "{column}" = "{column}" WHERE status = \'done\''))


def test_an_insert_that_replaces_is_no_way_around() -> None:
    ways = [
        "INSERT INTO runs_event SELECT * FROM runs_event WHERE true ON CONFLICT (id) DO UPDATE SET kind = 'x'"
    ]
    if connection.vendor == "sqlite":
        ways.append("INSERT OR REPLACE INTO runs_event SELECT * FROM runs_event")
    for way in ways:
        refused(lambda way=way: sql.execute(way))  # type: ignore[misc]


def test_a_closed_turn_stands() -> None:
    refused(lambda: Turn.objects.filter(status="closed").update(cost=0))
    refused(lambda: Turn.objects.all()._raw_delete("default"))


def test_a_lost_turn_stands() -> None:
    a_run(turns=14, order="")
    refused(lambda: Turn.objects.filter(status="lost").update(partial=""))


def test_an_open_turn_goes_on(run: Run) -> None:
    frame = Frame.objects.get()
    turn = Turn.objects.create(
        run=run,
        number=4,
        attempt=1,
        frame=frame,
        version=1,
        upto=1,
        request_sha256="0" * 64,
        opened_at=run.created_at,
    )
    Turn.objects.filter(pk=turn.pk).update(status="answered")
    Turn.objects.filter(pk=turn.pk).update(status="closed")
    refused(lambda: Turn.objects.filter(pk=turn.pk).update(status="open"))


def test_an_ended_call_takes_a_late_result_once_and_nothing_else() -> None:
    calls = Call.objects.exclude(result=None).order_by("pk")
    blob = Blob.objects.first()
    refused(lambda: calls.update(status="error"))
    refused(lambda: calls.update(result=None))
    assert calls.filter(pk=calls[0].pk).update(late_result=blob) == 1
    refused(lambda: calls.filter(pk=calls[0].pk).update(late_result=None))
    refused(lambda: calls._raw_delete("default"))


def test_the_triggers_are_there_after_a_migrate_and_after_a_remade_table() -> None:
    wanted = {trigger.name for trigger in triggers.wanted(connection.vendor)}
    assert triggers.listed() == wanted
    column = models.IntegerField(default=0)
    column.set_attributes_from_name("dummy")
    with connection.schema_editor() as editor:
        editor.add_field(Message, column)
        editor.alter_field(Message, column, _text("dummy"))
    call_command("migrate", verbosity=0)
    assert triggers.listed() == wanted
    refused(lambda: Message.objects.update(role="user"))


def _text(name: str) -> models.Field[Any, Any]:
    field: models.Field[Any, Any] = models.CharField(max_length=10, default="")
    field.set_attributes_from_name(name)
    return field
