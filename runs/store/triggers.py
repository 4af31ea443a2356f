"""Append-only, kept so by the database: neither the ORM nor SQL nor the admin can change what is archived.

Made anew after every migrate: Django remakes SQLite tables, and drops their triggers silently on the way.
`PRAGMA recursive_triggers=ON` (settings) is part of it there, else INSERT OR REPLACE passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections

PROTECTED = {
    "runs_blob": "",
    "runs_message": "",
    "runs_frame": "",
    "runs_version": "",
    "runs_event": "",
    "runs_turn": "OLD.status NOT IN ('open', 'answered')",
    "runs_call": "OLD.status NOT IN ('planned', 'started')",
}
"""Each table that only grows, and which of its rows no longer change (none named: all of them). No row is deleted."""

LATE = "late_result_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Refuses `action` on `table` for rows where `when` holds; `columns` narrows an update to these."""

    name: str
    table: str
    action: str
    when: str = ""
    columns: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return f"{self.table.removeprefix('runs_')}: the archive is append-only"


def wanted(vendor: str) -> list[Trigger]:
    """All triggers, by the tables they guard."""
    found = [
        _refuse(table, "UPDATE", when, _call_columns() if table == "runs_call" else ())
        for table, when in PROTECTED.items()
    ]
    found += [_refuse(table, "DELETE") for table in PROTECTED]
    when = f"OLD.{LATE} IS NOT NULL"
    found.append(
        Trigger(name="runs_call_late", table="runs_call", action="UPDATE", when=when, columns=(LATE,))
    )
    if vendor == "postgresql":
        found += [_refuse(table, "TRUNCATE") for table in PROTECTED]
    return found


def make(using: str = "default", **_signal: Any) -> None:
    """Drop and create all of them; the post_migrate handler."""
    connection = connections[using]
    if "runs_event" not in connection.introspection.table_names():
        return
    create = _postgres if connection.vendor == "postgresql" else _sqlite
    with connection.cursor() as cursor:
        for trigger in wanted(connection.vendor):
            for statement in create(trigger):
                cursor.execute(statement)


def listed(using: str = "default") -> set[str]:
    """The names of the triggers that the database really has."""
    connection = connections[using]
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'runs|_%' ESCAPE '|'"
    if connection.vendor == "postgresql":
        query = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'runs|_%' ESCAPE '|'"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {row[0] for row in cursor.fetchall()}


def _refuse(table: str, action: str, when: str = "", columns: tuple[str, ...] = ()) -> Trigger:
    name = f"{table}_no_{action.lower()}"
    return Trigger(name=name, table=table, action=action, when=when, columns=columns)


def _call_columns() -> tuple[str, ...]:
    """Every column of a call but the one that may still come: the late result of a fenced worker."""
    from runs.models import Call

    columns = [str(field.column) for field in Call._meta.concrete_fields]
    return tuple(column for column in columns if column != LATE)


def _sqlite(trigger: Trigger) -> tuple[str, ...]:
    of = f" OF {', '.join(trigger.columns)}" if trigger.columns else ""
    when = f" WHEN {trigger.when}" if trigger.when else ""
    return (
        f"DROP TRIGGER IF EXISTS {trigger.name}",
        f"CREATE TRIGGER {trigger.name} BEFORE {trigger.action}{of} ON {trigger.table}{when} "
        f"BEGIN SELECT RAISE(ABORT, '{trigger.message}'); END",
    )


def _postgres(trigger: Trigger) -> tuple[str, ...]:
    of = f" OF {', '.join(trigger.columns)}" if trigger.columns else ""
    when = f" WHEN ({trigger.when})" if trigger.when else ""
    each = "STATEMENT" if trigger.action == "TRUNCATE" else "ROW"
    return (
        "CREATE OR REPLACE FUNCTION runs_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$",
        f"DROP TRIGGER IF EXISTS {trigger.name} ON {trigger.table}",
        f"CREATE TRIGGER {trigger.name} BEFORE {trigger.action}{of} ON {trigger.table} "
        f"FOR EACH {each}{when} EXECUTE FUNCTION runs_refuse('{trigger.message}')",
    )
