"""The archive of a run: the full transcript with search, and the window that any turn was sent with."""

from __future__ import annotations

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs.models import Run
from runs.present import archive as read
from runs.present import archive_model
from runs.present.archive_chart import picture
from runs.present.search import results
from runs.present.vitals import status
from runs.store.verify import verify

from . import api
from .search import listed


@require_GET
def archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Fifty turns a page; `?q=` lists the hits beside them, `?turn=` opens the page that holds a turn."""
    run = api.the_run(request, slug)
    text, state = request.GET.get("q", "").strip()[:500], request.GET.get("state", "")
    found = results(text, run=run, state=state)
    if api.wants_json(request):
        return JsonResponse(listed(found), safe=False)
    turn = api.number(request.GET, "turn", 0)
    if text and not turn and not request.GET.get("page") and found.hits:
        turn = found.hits[0].found.turn
    page = read.page(run, api.number(request.GET, "page", 0), turn)
    span = (page.first, page.last) if page.pages > 1 else None
    more = {
        "found": found,
        "page": page,
        "epochs": page.epochs,
        "picture": picture(run, turn=turn, hits=found.turns, span=span),
        "message": api.number(request.GET, "message", 0),
    }
    return render(request, "archive/archive.html", {**_shared(request, run, text, state, turn), **more})


@require_GET
def window(request: HttpRequest, slug: str) -> HttpResponse:
    """The model view: the body that was sent at turn N, as blocks or (`?as=json`) as it is."""
    run = api.the_run(request, slug)
    turn = api.number(request.GET, "turn", 0)
    try:
        if api.wants_json(request):
            return api.window(run, turn or None)
        if "block" in request.GET:
            return _block(request, run, turn)
        view = archive_model.view(run, turn)
    except ObjectDoesNotExist as missing:
        raise Http404(str(missing)) from None
    except LookupError as missing:
        if turn:
            raise Http404(str(missing.args[0])) from None
        return render(request, "archive/unsent.html", _shared(request, run, "", "", 0))
    text = request.GET.get("q", "").strip()[:500]
    found = results(text, run=run)
    more = {
        "view": view,
        "raw": request.GET.get("as") == "json",
        "found": found,
        "epochs": read.epochs(run),
        "picture": picture(run, turn=view.turn.number, hits=found.turns),
    }
    return render(
        request, "archive/model.html", {**_shared(request, run, text, "", view.turn.number), **more}
    )


def _block(request: HttpRequest, run: Run, turn: int) -> HttpResponse:
    text = archive_model.block_text(archive_model.body(run, turn), api.number(request.GET, "block", 0))
    return render(request, "archive/block.html", {"text": text})


@require_GET
def request_body(request: HttpRequest, slug: str) -> HttpResponse:
    """The body of a turn's request as a download, byte for byte."""
    run = api.the_run(request, slug)
    turn = api.number(request.GET, "turn", run.turn_no)
    try:
        body = archive_model.body(run, turn)
    except ObjectDoesNotExist as missing:
        raise Http404(str(missing)) from None
    name = f'attachment; filename="{run.slug}-turn-{turn}.json"'
    return HttpResponse(body, content_type="application/json", headers={"Content-Disposition": name})


@require_GET
def message(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The original of one archived message, to read: what a hit or a stub stands for."""
    run = api.the_run(request, slug)
    try:
        text = read.original(run, number)
    except LookupError as missing:
        raise Http404(str(missing.args[0])) from None
    return render(request, "archive/block.html", {"text": text})


@require_GET
def intact(request: HttpRequest, slug: str) -> HttpResponse:
    """Check the whole archive of the run now: bodies, chain, requests."""
    run = api.the_run(request, slug)
    verdict = verify(run)
    if api.wants_json(request):
        bad = verdict.first_bad
        first = {"seq": bad.seq, "why": bad.why} if bad else None
        return JsonResponse({"run": run.slug, "ok": verdict.ok, "events": verdict.events, "first_bad": first})
    return render(request, "archive/intact.html", {"run": run, "verdict": verdict})


def _shared(request: HttpRequest, run: Run, text: str, state: str, turn: int) -> dict[str, object]:
    return {
        "section": "archive",
        "jump_url": request.path,
        "run": run,
        "status": status(run),
        "text": text,
        "state": state,
        "turn": turn,
        "sums": run.sums,
        "seconds": (run.ended_at - run.created_at).total_seconds() if run.ended_at else None,
    }
