"""All addresses: the door, the pages of runs, and the tables for whoever keeps the house."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from agentdash import door

urlpatterns = [
    path("login", door.login, name="login"),
    path("admin/", admin.site.urls),
    path("", include("runs.web.urls")),
]

handler400 = "runs.web.health.bad_request"
handler403 = "runs.web.health.forbidden"
handler404 = "runs.web.health.not_found"
handler500 = "runs.web.health.broken"
