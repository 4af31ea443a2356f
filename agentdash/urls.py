"""All addresses: the door, the pages of runs, and the tables for whoever keeps the house."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

from agentdash import door

urlpatterns = [
    path("login", door.login, name="login"),
    path("admin/", admin.site.urls),
    *([path("", include("runs.web.urls"))] if find_spec("runs.web.urls") else []),
]
