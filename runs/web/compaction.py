"""One edit of a window: what left it, where it went, what it cost. Compactions, clears, clearings alike."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs.models import Edit, Run
from runs.present import diff_entry, diff_json, diff_page

from . import api


@require_GET
def compaction(request: HttpRequest, slug: str, k: int) -> HttpResponse:
    """The page of edit `k` of a run."""
    run = api.the_run(request, slug)
    edit = _edit(run, k)
    found = diff_page.page(run, edit)
    if api.wants_json(request):
        return JsonResponse(diff_json.edit(found))
    return render(request, "compaction/compaction.html", {"section": "runs", "run": run, "page": found})


@require_GET
def entry(request: HttpRequest, slug: str, k: int, key: str) -> HttpResponse:
    """What stood before and what stands after of one entry, as a text diff."""
    run = api.the_run(request, slug)
    try:
        found = diff_entry.entry(run, _edit(run, k), key)
    except LookupError as missing:
        raise Http404(str(missing.args[0])) from None
    page = {"section": "runs", "run": run, "entry": found, "k": k}
    fragment = bool(request.headers.get("HX-Request"))
    return render(request, "compaction/entry.html" if fragment else "compaction/entry_page.html", page)


def _edit(run: Run, k: int) -> Edit:
    edit = Edit.objects.filter(run=run, number=k).first()
    if edit is None:
        raise Http404(f"The run {run.slug} has no edit {k}.")
    return edit
