"""Hand-written SQL for the few hot paths, the same on SQLite and Postgres.

A turn writes a dozen rows; through the ORM that is half of its time (measured). So statements go as they stand here,
and what a write does goes `together`: in one trip to Postgres, and on SQLite past Django's cursor, which costs five
times what most of these statements do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

from django.db import connection, connections

SQLITE_NOW_MS = "CAST((julianday('now')-2440587.5)*86400000 AS INTEGER)"
POSTGRES_NOW_MS = "CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000 AS BIGINT)"

MOST_ROWS = 500
"""Rows of one INSERT; SQLite takes 32,766 values a statement."""

Row: TypeAlias = tuple[Any, ...]


class Act(NamedTuple):
    """A statement that changes rows, with its values."""

    statement: str
    values: Sequence[Any]


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


def insertions(
    table: str, columns: tuple[str, ...], rows: Sequence[Row], *, ignore: bool = False
) -> Iterator[Act]:
    """What puts rows into a table. With `ignore`, a row whose key is there already is left out."""
    for start in range(0, len(rows), MOST_ROWS):
        some = rows[start : start + MOST_ROWS]
        values = some[0] if len(some) == 1 else [value for row in some for value in row]
        yield Act(_insert(table, columns, len(some), ignore), values)


def insert(table: str, columns: tuple[str, ...], rows: Sequence[Row], *, ignore: bool = False) -> None:
    """Put rows into a table, as `insertions` does."""
    together(list(insertions(table, columns, rows, ignore=ignore)))


def together(acts: Sequence[Act]) -> list[int]:
    """Run statements one after the other, and say how many rows each of them touched.

    Where one fails the rest is not run; the caller's transaction undoes the others.
    """
    if connections["default"].vendor == "postgresql":
        return _in_one_trip(acts)
    return [execute(*act) for act in acts]


def execute(statement: str, values: Sequence[Any] = ()) -> int:
    """Run one statement and say how many rows it touched."""
    with _after(statement, values) as cursor:
        return int(cursor.rowcount)


def one(statement: str, values: Sequence[Any] = ()) -> Row | None:
    """The first row a statement gives, if any."""
    with _after(statement, values) as cursor:
        found: Row | None = cursor.fetchone()
    return found


def rows(statement: str, values: Sequence[Any] = ()) -> list[Row]:
    with _after(statement, values) as cursor:
        found: list[Row] = cursor.fetchall()
    return found


def marks(values: Sequence[Any]) -> str:
    """Placeholders for a list: `%s,%s,%s`."""
    return ",".join(["%s"] * len(values))


@contextmanager
def _after(statement: str, values: Sequence[Any]) -> Iterator[Any]:
    """A cursor that has run the statement: the driver's on SQLite, unless somebody counts queries, else Django's."""
    connection = connections["default"]
    if connection.vendor != "sqlite" or connection.force_debug_cursor or connection.execute_wrappers:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            yield cursor
        return
    connection.ensure_connection()
    with connection.wrap_database_errors, closing(connection.connection.cursor()) as cursor:
        cursor.execute(_for_sqlite(statement), values)
        yield cursor


def _in_one_trip(acts: Sequence[Act]) -> list[int]:
    if not acts:
        return []
    values = [value for act in acts for value in act.values]
    with connections["default"].cursor() as cursor:
        cursor.execute(";\n".join(act.statement for act in acts), values)
        counts = [cursor.rowcount]
        while cursor.nextset():
            counts.append(cursor.rowcount)
    return counts


@lru_cache(maxsize=512)
def _for_sqlite(statement: str) -> str:
    return re.sub(r"(?<!%)%s", "?", statement).replace("%%", "%")


@cache
def _insert(table: str, columns: tuple[str, ...], count: int, ignore: bool) -> str:
    names = ",".join(f'"{name}"' for name in columns)
    tail = " ON CONFLICT DO NOTHING" if ignore else ""
    return f'INSERT INTO "{table}" ({names}) VALUES {",".join([f"({marks(columns)})"] * count)}{tail}'
