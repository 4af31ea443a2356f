"""What a person asks of a run: POST makes one order; the answer comes from the owner, never from here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs import control
from runs.models import Order, Run
from runs.present import steering
from runs.present.fleet_json import ordered

from . import api

LONGEST_WAIT = 10.0
NUMBERS = ("n", "keep")
SET = "set."
ENVELOPE = ("csrfmiddlewaretoken", "client_key", "seen_seq")


@require_POST
def order(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """202 with the order while pending, 200 once answered, 409 when rejected, 422 when it makes no sense.

    `?wait=` holds the answer back until the owner has spoken, at most ten seconds.
    """
    run = api.the_run(request, slug)
    try:
        given = _given(request)
        made = control.order(
            request.user,
            run,
            kind,
            _args(given),
            client_key=str(given.get("client_key") or "") or None,
            seen_seq=_seen(given),
        )
    except control.Invalid as mistake:
        return _invalid(request, run, kind, str(mistake))
    wait = min(api.seconds(request.GET.get("wait", "")), LONGEST_WAIT)
    if wait:
        made = control.wait_for(made, wait)
    return _answer(request, run, made)


def _given(request: HttpRequest) -> dict[str, Any]:
    return _json(request) if request.content_type == "application/json" else dict(request.POST.items())


def _args(given: Mapping[str, Any]) -> dict[str, Any]:
    """The order's own arguments; what is empty was not given."""
    kept = {key: value for key, value in given.items() if key not in ENVELOPE}
    args = {key: value for key, value in kept.items() if key.startswith(SET) or value not in ("", None)}
    args = _laid_over(args)
    return {key: _number(key, value) if key in NUMBERS else value for key, value in args.items()}


def _laid_over(args: Mapping[str, Any]) -> dict[str, Any]:
    """A form that edits one argument of a call sends the whole input as JSON, and beside it `set.<argument>`."""
    plain = {key: value for key, value in args.items() if not key.startswith(SET)}
    changed = {key.removeprefix(SET): _lines(value) for key, value in args.items() if key.startswith(SET)}
    if not changed:
        return plain
    try:
        whole = json.loads(str(plain.get("input", "{}")))
    except (ValueError, RecursionError):
        raise control.Invalid("The input is not valid JSON. Load the page again.") from None
    return {**plain, "input": {**whole, **changed} if isinstance(whole, dict) else whole}


def _lines(value: Any) -> str:
    """A form without script sends CR LF for each line end."""
    return str(value).replace("\r\n", "\n")


def _json(request: HttpRequest) -> dict[str, Any]:
    try:
        given = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        raise control.Invalid(
            "The body is not valid JSON. Send an object with the order's arguments."
        ) from None
    if not isinstance(given, dict):
        raise control.Invalid("The body must be a JSON object with the order's arguments.")
    return given


def _number(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    raise control.Invalid(f"{name} must be a whole number, and is {value!r}.")


def _seen(given: Mapping[str, Any]) -> int | None:
    """The last event that the person's screen showed; None where the client does not say."""
    return api.number(given, "seen_seq", 0) or None


def _invalid(request: HttpRequest, run: Run, kind: str, sentence: str) -> HttpResponse:
    if api.wants_json(request):
        return api.refused(sentence, 422)
    page = {"run": run, "kind": kind, "sentence": sentence}
    if request.headers.get("HX-Request"):
        return render(request, "dialogs/refused.html", page, status=422)
    return render(request, "errors/order.html", page, status=422)


def _answer(request: HttpRequest, run: Run, made: Order) -> HttpResponse:
    status = {"pending": 202, "rejected": 409, "expired": 409}.get(made.state, 200)
    if api.wants_json(request):
        return JsonResponse(ordered(made), status=status)
    if not request.headers.get("HX-Request"):
        return HttpResponseRedirect(reverse("run", args=[run.slug]))
    if status == 409:
        page = {"run": run, "kind": made.kind, "sentence": made.reason}
        return render(request, "dialogs/refused.html", page, status=status)
    if request.headers.get("HX-Target") != "dialog":
        return HttpResponse(status=204)
    # The dialog closes on an empty answer; the chip that goes with it stands on the page at once.
    return render(
        request, "run/chips.html", {"run": run, "orders": steering.chips(run), "oob": True}, status=status
    )
