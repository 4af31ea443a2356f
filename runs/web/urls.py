"""Addresses of the pages. Fixed: people and scripts rely on them (design.md §8)."""

from __future__ import annotations

from django.urls import include, path

from . import api, archive, compaction, dialogs, fleet, health, new_run, orders, search

urlpatterns = [
    path("", fleet.fleet, name="fleet"),
    path("runs/", new_run.new_run, name="new_run"),
    path("runs/new/", new_run.form, name="new_run_form"),
    path("runs/<slug:slug>/orders/<slug:kind>/", orders.order, name="order"),
    path("runs/<slug:slug>/dialogs/compact/", dialogs.compact, name="compact_dialog"),
    path("runs/<slug:slug>/dialogs/clear/", dialogs.clear, name="clear_dialog"),
    path("runs/<slug:slug>/compactions/<int:k>/", compaction.compaction, name="compaction"),
    path(
        "runs/<slug:slug>/compactions/<int:k>/entries/<slug:key>/", compaction.entry, name="compaction_entry"
    ),
    path("runs/<slug:slug>/archive/", archive.archive, name="archive"),
    path("runs/<slug:slug>/archive/intact/", archive.intact, name="archive_intact"),
    path("runs/<slug:slug>/archive/messages/<int:number>/", archive.message, name="archive_message"),
    path("runs/<slug:slug>/window/", archive.window, name="window"),
    path("runs/<slug:slug>/window/request.json", archive.request_body, name="window_request"),
    path("runs/<slug:slug>/events/", api.events, name="events"),
    path("", include("runs.web.run_urls")),
    path("search/", search.search, name="search"),
    path("healthz", health.healthz, name="healthz"),
]
