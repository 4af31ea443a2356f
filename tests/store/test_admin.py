"""The admin shows every table and changes none."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import RequestFactory

from runs.models import Run
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


def test_a_list_shows_runs() -> None:
    run = a_run(turns=1)
    shown = admin.site._registry[Run]
    assert run in shown.get_queryset(RequestFactory().get("/"))
