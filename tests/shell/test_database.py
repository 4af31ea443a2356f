"""Every test that asks for a database gets a fresh copy of a migrated one, with real commits."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, connections


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Ada", "Blas"])
def test_each_test_sees_an_empty_database_from_every_thread(name: str) -> None:
    seen: list[int] = []

    def count() -> None:
        seen.append(get_user_model().objects.count())
        connections.close_all()

    assert get_user_model().objects.count() == 0
    get_user_model().objects.create(username=name)
    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
    assert seen == [1]


@pytest.mark.django_db
def test_the_database_has_the_modes_the_archive_relies_on() -> None:
    with connection.cursor() as cursor:
        found = {}
        for name in ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers"):
            cursor.execute(f"PRAGMA {name}")
            found[name] = cursor.fetchone()[0]
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "recursive_triggers": 1}
