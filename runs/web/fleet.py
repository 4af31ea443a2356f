"""The fleet page: all runs, who needs you first."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from runs.present.fleet import Fleet, version
from runs.present.fleet import fleet as read

from . import api


@require_GET
def fleet(request: HttpRequest) -> HttpResponse:
    """All runs. The page asks again every two seconds with the version it shows; 204 when nothing changed."""
    if api.wants_json(request):
        return api.listed(request)
    group, text = request.GET.get("group", ""), request.GET.get("q", "").strip()
    asks_again = bool(request.headers.get("HX-Request"))
    if asks_again and request.GET.get("seen") == version(api.visible(request), group, text):
        return HttpResponse(status=204)
    found = read(api.visible(request), group, text)
    if asks_again:
        return render(request, "fleet/poll.html", _page(request, found))
    if not found.total:
        return render(request, "fleet/empty.html", {"section": "runs", "has_key": has_key()})
    return render(request, "fleet/fleet.html", _page(request, found))


def has_key() -> bool:
    """Whether a real llm can be reached: a key, a token, or a server of one's own is set."""
    return bool(settings.AGENTDASH.has_key)


def _page(request: HttpRequest, found: Fleet) -> dict[str, object]:
    group, text = request.GET.get("group", ""), request.GET.get("q", "").strip()
    cards = request.GET.get("view") == "cards"
    word = next((item.word for item in found.groups if item.key == group), "All")
    return {
        "section": "runs",
        "fleet": found,
        "version": found.version,
        "group": group,
        "text": text,
        "cards": cards,
        "heading": word,
        "all_url": _url(view="cards" if cards else ""),
        "rows_url": _url(group=group, q=text),
        "cards_url": _url(group=group, q=text, view="cards"),
    }


def _url(**query: str) -> str:
    given = urlencode({key: value for key, value in query.items() if value})
    return reverse("fleet") + (f"?{given}" if given else "")
