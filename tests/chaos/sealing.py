"""Every way to change or remove what is archived: SQL and ORM, row by row and all at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .lives import begin, ended, fork, walk

# isort: split
from django.db import DatabaseError, connection, transaction
from django.db.models import F

from runs.models import Blob, Call, Event, Frame, Message, Turn, Version


def sealed(_size: int) -> tuple[dict[str, Any], list[str]]:
    """A26: every way to change or remove what is archived, on every table that promises to stand."""
    run = begin("rehearsal/errands-3")
    ended(fork(walk(run.pk)))
    tried, problems = 0, []
    for model in (Blob, Message, Frame, Version, Event, Turn, Call):
        table, key = model._meta.db_table, model._meta.pk.column
        column = next(field for field in model._meta.fields if not field.primary_key).column
        statements = [f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"]
        statements += [f"DELETE FROM {table} WHERE {key} = (SELECT min({key}) FROM {table})"]
        statements += [f"TRUNCATE {table} CASCADE"] if connection.vendor == "postgresql" else []
        acts = [partial(_execute, statement) for statement in statements]
        acts += [
            partial(model.objects.update, **{column: F(column)}),
            partial(model.objects.all()._raw_delete, "default"),
        ]
        for act in acts:
            tried += 1
            if not _refused(act):
                problems.append(f"{table}: {act} was not refused")
    return {"tried": tried, "refused": tried - len(problems)}, problems


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _refused(act: Callable[[], Any]) -> bool:
    try:
        with transaction.atomic():
            act()
    except DatabaseError:
        return True
    return False
