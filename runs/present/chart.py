"""The chart's data: turns as compact columns, the edits between them, and the live point of one turn.

Up to FULL turns each has its bar. Beyond, at most POINTS turns are sent: of each stretch the fullest, and both
neighbours of every edit, so that peaks and drops are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from runs.engine.events import PARTS
from runs.engine.policy import Policy
from runs.models import Edit, Message, Run, Turn

from . import edits
from .vitals import LABELS, policy_of, thresholds

FULL = 200
POINTS = 500
MARKER_LIMIT = 400
"""Glyphs of single turns (a person's message, an offload): the newest so many."""

TOLD = 5
"""Compactions that the sentence for screen readers tells one by one."""


def columns(run: Run, most: int = POINTS) -> dict[str, Any]:
    """Everything the chart draws, as JSON. Tokens; cost in dollars; cache as a share."""
    found = list(_edits(run))
    turns = _chosen(run, found, most)
    policy = policy_of(run)
    limit = (
        turns[-1].limit if turns else int(run.sums.get("window", {}).get("limit") or 0) or policy.window.limit
    )
    return {
        "run": run.slug,
        "seq": run.next_seq - 1,
        "total": run.turn_no,
        "limit": limit,
        "marks": marks(policy, limit),
        "labels": LABELS,
        "turns": [turn.number for turn in turns],
        "parts": {part: [int(turn.parts.get(part, 0)) for turn in turns] for part in PARTS},
        "window": [turn.window for turn in turns],
        "cost": [turn.cost / 1_000_000 for turn in turns],
        "cache": [cache_share(turn) for turn in turns],
        "misses": {turn.number: turn.cache_miss for turn in turns if turn.cache_miss},
        "estimated": [turn.number for turn in turns if turn.estimated],
        "edits": _flags(found),
        "said": _said(run),
    }


def _flags(found: Sequence[Edit]) -> list[dict[str, Any]]:
    """Compactions and clears all; of what only leaves a glyph, the newest."""
    flags = [flag(edit) for edit in found]
    small = [at for at, one in enumerate(flags) if one["kind"] not in ("compaction", "clear")]
    left_out = set(small[: max(0, len(small) - MARKER_LIMIT)])
    return [one for at, one in enumerate(flags) if at not in left_out]


def point(turn: Turn, policy: Policy) -> dict[str, Any]:
    """One turn as the socket brings it: the contract's keys, and what the hover card adds."""
    return {
        "turn": turn.number,
        "parts": {part: int(turn.parts.get(part, 0)) for part in PARTS},
        "limit": turn.limit,
        "marks": marks(policy, turn.limit),
        "window": turn.window,
        "cost": turn.cost / 1_000_000,
        "cache": cache_share(turn),
        "miss": turn.cache_miss,
        "estimated": turn.estimated,
    }


def marks(policy: Policy, limit: int) -> list[dict[str, Any]]:
    """[{"key", "label", "at"}]: the thresholds in tokens, lowest first."""
    return [
        {"key": key, "label": f"{label} {share * 100:.0f} %", "at": int(share * limit)}
        for key, label, share in thresholds(policy)
    ]


def flag(edit: Edit) -> dict[str, Any]:
    """An edit between two turns. `x` lies on the border of the turns it parts."""
    kind = edits.kind_of(edit)
    return {
        "edit": edit.number,
        "kind": kind,
        "number": edits.number_of(edit) if kind == "compaction" else 0,
        "turn": edit.turn,
        "before": edit.tokens_before,
        "after": edit.tokens_after,
        "cost": edit.cost / 1_000_000,
    }


def cache_share(turn: Turn) -> float | None:
    """What of the prompt the provider read from its cache."""
    usage = turn.usage
    names = ("input", "cache_read", "cache_write", "cache_write_1h")
    prompt = sum(int(usage.get(name, 0)) for name in names)
    return round(int(usage.get("cache_read", 0)) / prompt, 3) if prompt else None


def table(run: Run, most: int = POINTS) -> list[dict[str, Any]]:
    """The chart as rows, newest first: the same data for screen readers, copying and CSV."""
    found = list(_edits(run))
    events: dict[int, list[str]] = {}
    for edit in found:
        events.setdefault(edit.turn, []).append(_words(edit))
    turns = _chosen(run, found, most)
    for turn in turns:
        if turn.cache_miss:
            events.setdefault(turn.number, []).append(f"cache fell: {turn.cache_miss}")
    rows = [
        {
            "turn": turn.number,
            "tokens": turn.window,
            "share": turn.window / turn.limit if turn.limit else None,
            "parts": [int(turn.parts.get(part, 0)) for part in PARTS],
            "cost": turn.cost,
            "cache": cache_share(turn),
            "events": ", ".join(events.get(turn.number, [])),
            "estimated": turn.estimated,
        }
        for turn in turns
    ]
    return rows[::-1]


def summary(run: Run) -> str:
    """The chart in one sentence, for whoever cannot see it."""
    folds = _edits(run).filter(Q(episode__isnull=False) | Q(kind="clear"))
    count = folds.count()
    parts = [f"Tokens in the window by turn, turns 1 to {run.turn_no}, stacked by part."]
    if count:
        newest = list(folds.order_by("-number")[:TOLD])[::-1]
        drops = "; ".join(
            f"turn {edit.turn}, {edit.tokens_before:,} to {edit.tokens_after or 0:,}" for edit in newest
        )
        parts.append(
            f"{count} compaction{'s' if count > 1 else ''}{', the newest' if count > TOLD else ''}: {drops}."
        )
    parts.append("The same data follows as a table.")
    return " ".join(parts)


def _words(edit: Edit) -> str:
    kind = edits.kind_of(edit)
    names = {
        "compaction": f"compaction {edits.number_of(edit)}",
        "clearing": "results cleared",
        "offload": "offloaded",
    }
    return names.get(kind, "window cleared" if kind == "clear" else kind)


def _edits(run: Run) -> QuerySet[Edit]:
    return Edit.objects.filter(run=run, state="applied").order_by("number")


def _said(run: Run) -> list[int]:
    said = Message.objects.filter(run=run, kind="say").order_by("-number").values_list("turn", flat=True)
    return sorted(said[:MARKER_LIMIT])


def _chosen(run: Run, found: Iterable[Edit], most: int) -> list[Turn]:
    closed = Turn.objects.filter(run=run, status="closed").order_by("number")
    heads = list(closed.values_list("number", "window", named=False)) if run.turn_no > FULL else []
    if len(heads) <= max(FULL, most):
        return list(closed)
    wanted = bucketed(heads, {edit.turn for edit in found}, most)
    return list(closed.filter(number__in=wanted))


def bucketed(heads: Sequence[tuple[int, int]], edits_at: set[int], most: int) -> set[int]:
    """Numbers of the turns to send of (number, window): the fullest of each stretch, and what surrounds an edit."""
    kept = (
        {number + step for number in edits_at for step in (-1, 0, 1)} if len(edits_at) * 3 < most else set()
    )
    kept |= {heads[0][0], heads[-1][0]}
    room = max(1, most - len(kept))
    size = -(-len(heads) // room)
    for start in range(0, len(heads), size):
        kept.add(max(heads[start : start + size], key=lambda head: head[1])[0])
    return kept & {number for number, _ in heads}
