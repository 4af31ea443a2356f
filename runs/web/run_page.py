"""The run page: live, or as it was at a turn."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from runs.models import Run
from runs.present import log, run, window_list

from . import api


@require_GET
def run_page(request: HttpRequest, slug: str) -> HttpResponse:
    """`?turn=` looks at the past, `?tab=` opens a tab of the inspector. JSON: what `agentdash show` prints."""
    found = api.the_run(request, slug)
    if api.wants_json(request):
        return api.show(request, found)
    return render(request, "run/page.html", run.page(found, past(request, found), *panel_asked(request)))


@require_GET
def turn(request: HttpRequest, slug: str, n: int) -> HttpResponse:
    """The address of one turn: the run page, looking at it."""
    found = api.the_run(request, slug)
    return redirect(f"{reverse('run', args=[found.slug])}?turn={n}")


def past(request: HttpRequest, found: Run) -> int | None:
    """The turn an address looks at; None for now, also when it names the newest or none of the run's."""
    asked = api.number(request.GET, "turn", 0)
    return asked if 0 < asked < found.turn_no else None


def panel_asked(request: HttpRequest) -> tuple[str, str, str]:
    """Tab, sort and filter of an address; what it does not know falls back to the first."""
    tab = _one_of(request.GET.get("tab", ""), [name for name, _ in run.TABS])
    sort = _one_of(request.GET.get("sort", ""), window_list.SORTS)
    return tab, sort, _one_of(request.GET.get("log", ""), log.FILTERS)


def _one_of(asked: str, known: list[str] | tuple[str, ...]) -> str:
    return asked if asked in known else known[0]
