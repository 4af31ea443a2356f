"""The admin: to look at every table. Nothing here is changed by hand; runs are steered by orders."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.db import models as db
from django.http import HttpRequest

from runs import models


class ReadOnly(admin.ModelAdmin):
    """Archive tables refuse changes by trigger; the rest has rules that only the run's owner keeps."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: db.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: db.Model | None = None) -> bool:
        return False


class OfRun(ReadOnly):
    """A table of one run's rows, found by the run's slug."""

    list_select_related = ("run",)
    search_fields: ClassVar[tuple[str, ...]] = ("run__slug",)


@admin.register(models.Run)
class RunAdmin(ReadOnly):
    list_display = ("slug", "title", "state", "reason", "turn_no", "llm", "owner", "created_at")
    list_filter = ("state", "origin")
    search_fields = ("slug", "title")


@admin.register(models.Blob)
class BlobAdmin(ReadOnly):
    list_display = ("sha256", "size", "codec")
    fields = ("sha256", "size", "codec")


@admin.register(models.Frame)
class FrameAdmin(ReadOnly):
    list_display = ("sha256", "llm", "render")


@admin.register(models.Message)
class MessageAdmin(OfRun):
    list_display = ("run", "number", "turn", "role", "author", "kind", "tokens", "counted", "at")


@admin.register(models.Turn)
class TurnAdmin(OfRun):
    list_display = ("run", "number", "attempt", "status", "stop_reason", "window", "cost", "ms")
    list_filter = ("status",)


@admin.register(models.Call)
class CallAdmin(OfRun):
    list_display = ("run", "turn", "name", "effect", "status", "ms", "bytes", "worker")
    list_filter = ("status", "name")


@admin.register(models.Version)
class VersionAdmin(OfRun):
    list_display = ("run", "number", "parent", "edit", "base")


@admin.register(models.Edit)
class EditAdmin(OfRun):
    list_display = (
        "run",
        "number",
        "kind",
        "method",
        "trigger",
        "state",
        "turn",
        "tokens_before",
        "tokens_after",
    )
    list_filter = ("kind", "state")


@admin.register(models.Episode)
class EpisodeAdmin(OfRun):
    list_display = ("run", "number", "first_turn", "last_turn", "tokens", "folds")


@admin.register(models.Note)
class NoteAdmin(OfRun):
    list_display = ("run", "number", "revision", "section", "state", "author", "turn")


@admin.register(models.Order)
class OrderAdmin(OfRun):
    list_display = ("run", "kind", "state", "by", "at", "applied_seq", "reason")
    list_filter = ("state", "kind")


@admin.register(models.Event)
class EventAdmin(OfRun):
    list_display = ("run", "seq", "kind", "turn", "at")
    list_filter = ("kind",)


@admin.register(models.Spend)
class SpendAdmin(OfRun):
    list_display = ("run", "turn", "kind", "llm", "cost")
