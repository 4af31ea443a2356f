"""Sparklines: a run's window by turn in a hundred points, peaks kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.db.models import F, Max

from runs.models import Edit, Turn

POINTS = 100
WIDTH, HEIGHT = 196, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """A run's window by turn, as SVG points; `cuts`: x of compactions and clears, `mark_y`: y of the mark."""

    line: str
    area: str
    cuts: tuple[float, ...]
    mark_y: float


@lru_cache(maxsize=2000)
def spark(run: int, turns: int, version: int, limit: int, mark: float) -> Spark | None:
    """The sparkline of a run. Closed turns never change, so (run, turns, version) names it for good."""
    if not turns or not limit:
        return None
    step = max(1, -(-turns // POINTS))
    closed = Turn.objects.filter(run=run, status="closed").annotate(bucket=F("number") / step)
    peaks = closed.values("bucket").annotate(top=Max("window"), at=Max("number")).order_by("bucket")
    points = [(_x(row["at"], turns), _y(row["top"], limit)) for row in peaks]
    if not points:
        return None
    line = " ".join(f"{x},{y}" for x, y in points)
    cuts = Edit.objects.filter(run=run, state="applied", kind__in=("compact", "clear"), after__lte=version)
    return Spark(
        line=line,
        area=f"{points[0][0]},{HEIGHT} {line} {points[-1][0]},{HEIGHT}",
        cuts=tuple(_x(turn, turns) for turn in cuts.values_list("turn", flat=True)),
        mark_y=_y(int(mark * limit), limit),
    )


def _x(turn: int, turns: int) -> float:
    return round(WIDTH * (turn - 1) / max(turns - 1, 1), 1)


def _y(tokens: int, limit: int) -> float:
    return round(HEIGHT - (HEIGHT - 1) * min(tokens / limit, 1), 1)
