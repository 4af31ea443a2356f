"""Search across all runs of a person."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs.present.search import Results, results

from . import api


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Every hit with where it stands now. Without a query: what can be searched."""
    text, state = request.GET.get("q", "").strip()[:500], request.GET.get("state", "")
    found = results(text, owner=request.user.pk, state=state)
    if api.wants_json(request):
        return JsonResponse(listed(found), safe=False)
    runs = api.visible(request).order_by("-created_at")[:50] if not text else ()
    page = {"section": "archive", "found": found, "runs": runs, "text": text, "state": state}
    return render(request, "search/search.html", page)


def listed(found: Results) -> list[dict[str, object]]:
    """Hits as scripts read them."""
    return [
        {
            "run": hit.found.run.slug,
            "turn": hit.found.turn,
            "message": hit.found.message,
            "state": hit.found.state.value,
            "episode": hit.found.episode or None,
            "snippet": hit.found.snippet,
        }
        for hit in found.hits
    ]
