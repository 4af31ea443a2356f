"""The JSON twin of every page: the same address with `Accept: application/json`. Shapes: contracts.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from runs.models import Event, Run
from runs.present import archive_window, fleet_json

MOST_EVENTS = 500


def wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def visible(request: HttpRequest) -> QuerySet[Run]:
    """The runs this person may see: their own. The one place that says so."""
    return Run.objects.filter(owner=request.user.pk)


def the_run(request: HttpRequest, slug: str) -> Run:
    """The run of an address, or 404: also for a run of somebody else."""
    run = visible(request).filter(slug=slug).first()
    if run is None:
        raise Http404(f"There is no run {slug}.")
    return run


def address(request: HttpRequest, run: Run) -> str:
    return request.build_absolute_uri(reverse("run", args=[run.slug]))


def refused(sentence: str, status: int, **more: Any) -> JsonResponse:
    """A mistake as JSON: cause and cure in one sentence."""
    return JsonResponse({"error": sentence, **more}, status=status)


def listed(request: HttpRequest) -> JsonResponse:
    """All runs, newest first."""
    runs = visible(request).order_by("-created_at")
    return JsonResponse([fleet_json.listed(run, address(request, run)) for run in runs], safe=False)


def show(request: HttpRequest, run: Run) -> JsonResponse:
    return JsonResponse(fleet_json.shown(run, address(request, run)))


def started(request: HttpRequest, run: Run) -> JsonResponse:
    return JsonResponse(fleet_json.started(run, address(request, run)), status=201)


def window(run: Run, turn: int | None) -> JsonResponse:
    """The window as of a turn, entry by entry, without bodies."""
    return JsonResponse(archive_window.window(run, turn))


@require_GET
def events(request: HttpRequest, slug: str) -> JsonResponse:
    """Events after a seq, at most 500: ask again from the last one."""
    run = the_run(request, slug)
    after = number(request.GET, "after", 0)
    rows = Event.objects.filter(run=run, seq__gt=after).order_by("seq")[:MOST_EVENTS]
    return JsonResponse([_event(row) for row in rows], safe=False)


def _event(row: Event) -> dict[str, Any]:
    at = fleet_json.iso(row.at)
    return {"seq": row.seq, "kind": row.kind, "turn": row.turn, "at": at, "data": row.data, "hash": row.hash}


def number(given: Mapping[str, Any], name: str, default: int) -> int:
    """A whole number of a query, the default where it is absent or is none."""
    text = str(given.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def seconds(text: str) -> float:
    """A number of seconds of a query, 0 where it is absent or is none."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value < 3600 else 0.0
