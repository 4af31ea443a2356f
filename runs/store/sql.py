"""Hand-written SQL for the few hot paths, the same on SQLite and Postgres.

A turn writes a dozen rows; through the ORM that is half of its time (measured), so rows go in by executemany.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection

SQLITE_NOW_MS = "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
POSTGRES_NOW_MS = "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"

Row = tuple[Any, ...]


def now_expression() -> str:
    """SQL for the database's clock in milliseconds: the only clock that leases know."""
    return POSTGRES_NOW_MS if connection.vendor == "postgresql" else SQLITE_NOW_MS


def now() -> datetime:
    """This moment in UTC, cut to milliseconds: what is hashed must survive the way through any database."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def iso(moment: datetime) -> str:
    """UTC, ISO 8601 with milliseconds and Z, as every page and script sees it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stamp(moment: datetime) -> Any:
    """A moment as the database's driver takes it."""
    return connection.ops.adapt_datetimefield_value(moment)


def dumps(value: Any) -> str:
    """JSON for a JSON column."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def insert(table: str, columns: tuple[str, ...], rows: Sequence[Row], *, ignore: bool = False) -> None:
    """Put rows into a table. With `ignore`, a row whose key is there already is left out."""
    if not rows:
        return
    statement = _insert(table, columns, ignore)
    with connection.cursor() as cursor:
        if len(rows) == 1:
            cursor.execute(statement, rows[0])
        else:
            cursor.executemany(statement, rows)


def execute(statement: str, values: Sequence[Any] = ()) -> int:
    """Run one statement and say how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def one(statement: str, values: Sequence[Any] = ()) -> Row | None:
    """The first row a statement gives, if any."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: Row | None = cursor.fetchone()
    return found


def rows(statement: str, values: Sequence[Any] = ()) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[Row] = cursor.fetchall()
    return found


def marks(values: Sequence[Any]) -> str:
    """Placeholders for a list: `%s,%s,%s`."""
    return ",".join(["%s"] * len(values))


@cache
def _insert(table: str, columns: tuple[str, ...], ignore: bool) -> str:
    names = ",".join(f'"{name}"' for name in columns)
    tail = " ON CONFLICT DO NOTHING" if ignore else ""
    return f'INSERT INTO "{table}" ({names}) VALUES ({marks(columns)}){tail}'
