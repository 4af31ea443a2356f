"""The context of the run page, and of each of its parts: the same for a page, a fragment and the socket."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from runs.models import Episode, Note, Run
from runs.store import page_reads

from . import asking, chart, feed, inspector, log, steering, window_list
from .now import Now
from .standing import Standing
from .vitals import LABELS, vitals

TABS = (
    ("window", "Window"),
    ("notes", "Notes"),
    ("episodes", "Episodes"),
    ("policy", "Policy"),
    ("log", "Log"),
)
LOG_FILTERS = (("all", "All"), ("fired", "Fired"), ("not-fired", "Not fired"), ("you", "By you"))


def page(run: Run, past: int | None, tab: str, sort: str = "order", which: str = "all") -> dict[str, Any]:
    """Everything the run page shows. `past`: the turn looked at, None for now."""
    now = Now(run=run)
    rows = feed.newest(run, now.standing) if past is None else feed.around(run, past)
    return {
        "run": run,
        "section": "runs",
        "seq": run.next_seq - 1,
        "past": past,
        "workspace": "" if PurePath(run.workspace).name == run.slug else PurePath(run.workspace).name,
        "vitals": vitals(run, now),
        "labels": LABELS,
        "summary": chart.summary(run),
        "page": rows,
        "tabs": TABS,
        "controls": steering.controls(run),
        "orders": steering.chips(run),
        "counts": counts(run, past),
        "no_sandbox": asking.no_sandbox(run),
        **panel(run, past, tab, sort, which, now),
    }


def panel(
    run: Run, past: int | None, tab: str, sort: str, which: str, now: Now | None = None
) -> dict[str, Any]:
    """One tab of the inspector, and the template that shows it."""
    about: dict[str, Any] = {
        "run": run,
        "past": past,
        "tab": tab,
        "panel_template": f"run/inspector/{tab}.html",
    }
    as_of = run.turn_no if past is None else min(past, run.turn_no)
    return about | {"as_of": as_of} | _PANELS[tab](now or Now(run=run), past, sort, which)


def counts(run: Run, past: int | None = None) -> dict[str, int]:
    """The numbers on the inspector's tabs."""
    notes, episodes = Note.objects.filter(run=run), Episode.objects.filter(run=run)
    if past is not None:
        notes, episodes = notes.filter(turn__lte=past), episodes.filter(last_turn__lte=past)
    return {"notes": notes.values("number").distinct().count(), "episodes": episodes.count()}


def _window(now: Now, past: int | None, sort: str, which: str) -> dict[str, Any]:
    turn = now.last if past is None else page_reads.turn(now.run, past)
    standing = now.standing if past is None else Standing.at(now.run, past)
    shown = window_list.window_list(now.run, standing, turn, sort)
    share = shown.tokens / shown.limit if shown.limit else None
    return {"window": shown, "sort": sort, "sorts": window_list.SORTS, "share": share}


def _notes(now: Now, past: int | None, sort: str, which: str) -> dict[str, Any]:
    return {"notes": inspector.notes(now.run, past)}


def _episodes(now: Now, past: int | None, sort: str, which: str) -> dict[str, Any]:
    return {"episodes": inspector.episodes(now.run, past)}


def _policy(now: Now, past: int | None, sort: str, which: str) -> dict[str, Any]:
    signs = vitals(now.run, now)
    thresholds, others = inspector.settings(now.policy, signs.limit)
    fill = signs.gauge.fill if signs.gauge else ""
    return {"thresholds": thresholds, "others": others, "fill": fill, "limit": signs.limit}


def _log(now: Now, past: int | None, sort: str, which: str) -> dict[str, Any]:
    lines, numbers = log.log(now.run, which, past)
    return {"lines": lines, "log_counts": numbers, "filters": LOG_FILTERS, "which": which}


_PANELS = {"window": _window, "notes": _notes, "episodes": _episodes, "policy": _policy, "log": _log}
