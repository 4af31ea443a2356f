"""Every way to change or remove what is archived: SQL and ORM, row by row and all at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .lives import begin, ended, fork, walk

# isort: split
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.test import Client

from runs.store import triggers


def sealed(_size: int) -> tuple[dict[str, Any], list[str]]:
    """A26: every way to change or remove what is archived, on every table that promises to stand."""
    run = begin("rehearsal/errands-3")
    ended(fork(walk(run.pk)))
    tried, problems = 0, []
    for model in _protected():
        table, key = model._meta.db_table, model._meta.pk.column
        column = next(field for field in model._meta.fields if not field.primary_key).column
        statements = [f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"]
        statements += [f"DELETE FROM {table} WHERE {key} = (SELECT min({key}) FROM {table})"]
        statements += [f"TRUNCATE {table} CASCADE"] if connection.vendor == "postgresql" else []
        acts = [partial(_execute, statement) for statement in statements]
        acts += [
            partial(model.objects.update, **{column: F(column)}),
            partial(model.objects.all()._raw_delete, "default"),
            *_by_admin(model),
        ]
        for act in acts:
            tried += 1
            if not _refused(act):
                problems.append(f"{table}: {act} was not refused")
    return {"tried": tried, "refused": tried - len(problems)}, problems


def _protected() -> list[Any]:
    tables = {model._meta.db_table: model for model in apps.get_app_config("runs").get_models()}
    return [tables[name] for name in triggers.PROTECTED]


def _by_admin(model: Any) -> list[Callable[[], Any]]:
    """A superuser sends the admin's forms, which are not there."""
    client = Client(headers={"host": "localhost"})
    client.force_login(
        get_user_model().objects.get_or_create(username="boss", is_superuser=True, is_staff=True)[0]
    )
    row = model.objects.order_by("pk").values().first()
    key, root = row[model._meta.pk.attname], f"/admin/runs/{model._meta.model_name}/"
    sent = {**dict.fromkeys(row, "1"), "post": "yes", "action": "delete_selected", "_selected_action": key}

    def send(way: str) -> None:
        client.post(root + way, sent)
        if model.objects.filter(pk=key).values().first() == row:
            raise DatabaseError("refused")

    return [partial(send, way) for way in (f"{key}/change/", f"{key}/delete/", "")]


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
