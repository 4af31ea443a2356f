"""Parts of the run page that are fetched apart: the chart's data, older turns, a row's body, a tab of the inspector."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from runs.engine.events import PARTS
from runs.models import Edit
from runs.present import body, chart, feed, run
from runs.present.vitals import LABELS

from . import api, run_page


@require_GET
def chart_json(request: HttpRequest, slug: str) -> JsonResponse:
    return JsonResponse(chart.columns(api.the_run(request, slug)))


@require_GET
def chart_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The chart's data as CSV, oldest turn first; cost in dollars."""
    found = api.the_run(request, slug)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["turn", "tokens", "estimated", *PARTS, "cost_usd", "cache_share", "event"])
    for row in reversed(chart.table(found, most=1_000_000)):
        cost = f"{row['cost'] / 1_000_000:.6f}"
        known = [row["turn"], row["tokens"], int(row["estimated"]), *row["parts"], cost]
        writer.writerow([*known, "" if row["cache"] is None else row["cache"], row["events"]])
    answer = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{found.slug}-window.csv"'
    return answer


@require_GET
def table(request: HttpRequest, slug: str) -> HttpResponse:
    found = api.the_run(request, slug)
    return render(request, "run/table.html", {"run": found, "rows": chart.table(found), "labels": LABELS})


@require_GET
def feed_rows(request: HttpRequest, slug: str) -> HttpResponse:
    """The feed now; at `?turn=`; or, with `?before=`, the turns before a seq."""
    found = api.the_run(request, slug)
    before = api.number(request.GET, "before", 0)
    if before:
        older = {"run": found, "page": feed.newest(found, before=before)}
        return render(request, "run/older_rows.html", older)
    past = run_page.past(request, found)
    page = feed.newest(found) if past is None else feed.around(found, past)
    return render(request, "run/feed_rows.html", {"run": found, "page": page, "past": past})


@require_GET
def row_body(request: HttpRequest, slug: str, message: int, block: int) -> HttpResponse:
    """What stands behind a row; `?all=1` without a cut."""
    found = api.the_run(request, slug)
    shown = body.body(found, message, block, whole=request.GET.get("all") == "1")
    if shown is None:
        raise Http404(f"Run {slug} has no block {block} in message {message}.")
    return render(request, "run/body.html", {"run": found, **asdict(shown)})


@require_GET
def inspector(request: HttpRequest, slug: str) -> HttpResponse:
    found = api.the_run(request, slug)
    shown = run.panel(found, run_page.past(request, found), *run_page.panel_asked(request))
    return render(request, str(shown["panel_template"]), shown)


@require_GET
def compactions(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest compaction of a run, for an address without a number."""
    found = api.the_run(request, slug)
    edit = Edit.objects.filter(run=found, state="applied", episode__isnull=False).order_by("-number").first()
    if edit is None:
        raise Http404(f"Run {slug} has not been compacted.")
    return redirect("compaction", slug=found.slug, k=edit.number)
