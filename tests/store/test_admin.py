"""The admin shows every table and changes none."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.test import Client, RequestFactory

from runs.models import Run
from runs.store import triggers
from tests.builders import a_person, a_run

pytestmark = pytest.mark.django_db


def test_every_table_is_there_and_read_only() -> None:
    request = RequestFactory().get("/")
    boss = a_person("boss")
    boss.is_staff = boss.is_superuser = True
    boss.save()
    request.user = boss
    for table in apps.get_app_config("runs").get_models():
        shown = admin.site._registry[table]
        assert not shown.has_add_permission(request)
        assert not shown.has_change_permission(request)
        assert not shown.has_delete_permission(request)
        assert shown.has_view_permission(request)


@pytest.mark.parametrize("table", triggers.PROTECTED)
def test_the_admin_takes_no_change_however_it_is_sent(table: str) -> None:
    """The forms are not there; here they are sent all the same, by somebody who may do anything."""
    a_run(turns=2, order="")
    boss = get_user_model().objects.create_superuser("boss")
    client = Client()
    client.force_login(boss)
    kept = next(one for one in apps.get_app_config("runs").get_models() if one._meta.db_table == table)
    row = kept._default_manager.order_by("pk").values().first()
    root = f"/admin/runs/{kept._meta.model_name}/"
    sent = dict.fromkeys(row, "1") | {"_save": "Save", "post": "yes", "_selected_action": row[_key(kept)]}
    for way in (f"{row[_key(kept)]}/change/", f"{row[_key(kept)]}/delete/", "add/"):
        assert client.post(root + way, sent).status_code == 403, way
    client.post(root, sent | {"action": "delete_selected"})
    assert kept._default_manager.filter(pk=row[_key(kept)]).values().first() == row


def _key(table: type[Model]) -> str:
    assert table._meta.pk is not None
    return str(table._meta.pk.attname)


def test_a_list_shows_runs() -> None:
    run = a_run(turns=1)
    shown = admin.site._registry[Run]
    assert run in shown.get_queryset(RequestFactory().get("/"))
