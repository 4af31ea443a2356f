"""Addresses of the run page and its parts."""

from __future__ import annotations

from django.urls import path

from . import run_page, run_parts

urlpatterns = [
    path("runs/<slug:slug>/", run_page.run_page, name="run"),
    path("runs/<slug:slug>/turns/<int:n>/", run_page.turn, name="turn"),
    path("runs/<slug:slug>/chart.json", run_parts.chart_json, name="run_chart"),
    path("runs/<slug:slug>/chart.csv", run_parts.chart_csv, name="run_csv"),
    path("runs/<slug:slug>/parts/table/", run_parts.table, name="run_table"),
    path("runs/<slug:slug>/parts/feed/", run_parts.feed_rows, name="run_feed"),
    path("runs/<slug:slug>/parts/inspector/", run_parts.inspector, name="run_inspector"),
    path("runs/<slug:slug>/parts/body/<int:message>/<int:block>/", run_parts.row_body, name="run_body"),
    path("runs/<slug:slug>/compactions/", run_parts.compactions, name="run_compactions"),
]
