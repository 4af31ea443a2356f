"""The dialogs that weigh an edit before it is asked for. Fragments for <dialog>, whole pages without JS."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs.models import Run
from runs.present import dialogs as read
from runs.present import steering

from . import api


@require_GET
def compact(request: HttpRequest, slug: str) -> HttpResponse:
    """Method, how much stays, instructions; with the estimate of every combination."""
    run = api.the_run(request, slug)
    method = request.GET.get("method", "")
    found = read.compact(run, method, api.number(request.GET, "keep", -1))
    if found is None:
        return _empty(request, run, "compact")
    more = {"found": found, "words": found.words, "table": json.dumps(found.table())}
    more["applied"] = steering.applied_when(run, "compact")
    return _dialog(request, run, "compact", more)


@require_GET
def clear(request: HttpRequest, slug: str) -> HttpResponse:
    """What stays and what leaves; the focus starts on Cancel."""
    run = api.the_run(request, slug)
    found = read.clear(run)
    if found is None:
        return _empty(request, run, "clear")
    return _dialog(request, run, "clear", {"found": found, "applied": steering.applied_when(run, "clear")})


def _empty(request: HttpRequest, run: Run, name: str) -> HttpResponse:
    return _dialog(request, run, "empty", {"name": name})


def _dialog(request: HttpRequest, run: Run, name: str, more: dict[str, Any]) -> HttpResponse:
    fragment = bool(request.headers.get("HX-Request"))
    page = {"run": run, "section": "runs", "body": f"dialogs/{name}.html", "client_key": uuid4().hex, **more}
    return render(request, f"dialogs/{name}.html" if fragment else "dialogs/page.html", page)
