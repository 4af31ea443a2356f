"""Whether the server answers, and what it says when it cannot."""

from __future__ import annotations

import sys

from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from .api import refused, wants_json

SENTENCES = {
    400: "This request cannot be understood. Go back and try again.",
    403: "This page is not for you. Ask for a fresh link with: agentdash link",
    404: "There is nothing at this address.",
    503: "The database does not answer just now. Nothing is lost. Try again in a moment.",
    500: "Something broke here. The run goes on: nothing that was committed is lost. Try again.",
}


def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, 503 when it does not. Open to all: it says nothing about runs."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError:
        return JsonResponse({"ok": False, "error": SENTENCES[503]}, status=503)
    return JsonResponse({"ok": True})


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = str(exception.args[0]) if exception.args and isinstance(exception.args[0], str) else ""
    return _error(request, 404, said)


def broken(request: HttpRequest) -> HttpResponse:
    """500; or 503 while the database is away, for that is worth another try."""
    away = isinstance(sys.exc_info()[1], OperationalError)
    return _error(request, 503 if away else 500)


def _error(request: HttpRequest, status: int, said: str = "") -> HttpResponse:
    sentence = said or SENTENCES[status]
    if wants_json(request):
        return refused(sentence, status)
    return render(request, "errors/error.html", {"status": status, "sentence": sentence}, status=status)
