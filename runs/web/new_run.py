"""Starting a run: one form, and every mistake answered next to the field it is in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from runs import control
from runs.engine.llm import table
from runs.engine.policy import presets
from runs.models import Run

from . import api
from .new_run_form import Mistake, blank, field_of, read


@require_GET
def form(request: HttpRequest) -> HttpResponse:
    """The form: a fragment for the dialog, a page without JS."""
    return _form(request, blank(settings.AGENTDASH.llm, settings.AGENTDASH.has_key), {})


@require_http_methods(["GET", "POST"])
def new_run(request: HttpRequest) -> HttpResponse:
    """Start a run: 303 to its page, 201 with its address as JSON; 422 with the sentence, and nothing half-made."""
    if request.method == "GET":
        return redirect("fleet")
    as_json = api.wants_json(request)
    try:
        given = _given(request)
        run = control.start(request.user, read(given))
    except Mistake as mistake:
        return _refused(request, as_json, given, mistake.field, str(mistake))
    except control.Invalid as mistake:
        return _refused(request, as_json, given, field_of(str(mistake)), str(mistake))
    return api.started(request, run) if as_json else _onward(request, run)


def _given(request: HttpRequest) -> Mapping[str, Any]:
    if request.content_type != "application/json":
        return dict(request.POST.items())
    try:
        given = json.loads(request.body)
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else {}


def _onward(request: HttpRequest, run: Run) -> HttpResponse:
    to = reverse("run", args=[run.slug])
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": to})
    response = HttpResponseRedirect(to)
    response.status_code = 303
    return response


def _refused(
    request: HttpRequest, as_json: bool, given: Mapping[str, Any], field: str, sentence: str
) -> HttpResponse:
    if as_json:
        return api.refused(sentence, 422, field=field)
    return _form(request, given, {field or "form": sentence}, status=422)


def _form(
    request: HttpRequest, given: Mapping[str, Any], mistakes: Mapping[str, str], status: int = 200
) -> HttpResponse:
    fragment = bool(request.headers.get("HX-Request"))
    page = {
        "section": "runs",
        "given": given,
        "mistakes": mistakes,
        "llms": llms(),
        "policies": presets(),
        "has_key": settings.AGENTDASH.has_key,
        "body": "dialogs/new_run.html",
    }
    return render(request, "dialogs/new_run.html" if fragment else "dialogs/page.html", page, status=status)


def llms() -> list[str]:
    """Names to choose from; another one can be typed."""
    return ["rehearsal", *(table.names() if settings.AGENTDASH.has_key else ())]
