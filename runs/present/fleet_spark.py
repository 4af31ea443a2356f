"""Sparklines: a run's window by turn in a hundred points, peaks kept. All of a fleet's in two queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Max

from runs.models import Edit, Turn

POINTS = 100
WIDTH, HEIGHT = 196, 30
REMEMBERED = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a sparkline is drawn from. Closed turns never change, so equal lines have equal sparklines for good."""

    run: int
    turns: int
    version: int
    limit: int
    mark: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """A run's window by turn, as SVG points; `cuts`: x of compactions and clears, `mark_y`: y of the mark."""

    line: str
    area: str
    cuts: tuple[float, ...]
    mark_y: float


_drawn: dict[Line, Spark | None] = {}


def sparks(lines: Sequence[Line]) -> dict[int, Spark]:
    """The sparklines by run; none for a run without a closed turn."""
    fresh = [line for line in lines if line not in _drawn]
    if len(_drawn) + len(fresh) > REMEMBERED:
        _drawn.clear()
        fresh = list(lines)
    _drawn.update(_draw([line for line in fresh if line.turns and line.limit]))
    found = [(line.run, _drawn.get(line)) for line in lines]
    return {run: spark for run, spark in found if spark is not None}


def _draw(lines: Sequence[Line]) -> dict[Line, Spark | None]:
    if not lines:
        return {}
    runs = [line.run for line in lines]
    peaks, cuts = _peaks(runs), _cuts(runs)
    return {line: _spark(line, peaks.get(line.run, []), cuts) for line in lines}


def _peaks(runs: Sequence[int]) -> Mapping[int, list[tuple[int, int]]]:
    """(turn, tokens) of the fullest turn of each stretch, by run: at most POINTS stretches a run."""
    step = (F("run__turn_no") + POINTS - 1) / POINTS
    closed = Turn.objects.filter(run__in=runs, run__turn_no__gt=0, status="closed")
    stretches = closed.annotate(stretch=F("number") / step).values("run", "stretch")
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in stretches.annotate(top=Max("window"), at=Max("number")).order_by("run", "stretch"):
        found[row["run"]].append((row["at"], row["top"]))
    return found


def _cuts(runs: Sequence[int]) -> Sequence[tuple[int, int, int]]:
    """(run, turn, version) of what emptied windows."""
    edits = Edit.objects.filter(run__in=runs, state="applied", kind__in=("compact", "clear"))
    return [(run, turn, after or 0) for run, turn, after in edits.values_list("run", "turn", "after")]


def _spark(
    line: Line, peaks: Sequence[tuple[int, int]], cuts: Sequence[tuple[int, int, int]]
) -> Spark | None:
    if not peaks:
        return None
    points = [(_x(at, line.turns), _y(top, line.limit)) for at, top in peaks]
    drawn = " ".join(f"{x},{y}" for x, y in points)
    return Spark(
        line=drawn,
        area=f"{points[0][0]},{HEIGHT} {drawn} {points[-1][0]},{HEIGHT}",
        cuts=tuple(
            _x(turn, line.turns) for run, turn, after in cuts if run == line.run and after <= line.version
        ),
        mark_y=_y(int(line.mark * line.limit), line.limit),
    )


def _x(turn: int, turns: int) -> float:
    return round(WIDTH * (turn - 1) / max(turns - 1, 1), 1)


def _y(tokens: int, limit: int) -> float:
    return round(HEIGHT - (HEIGHT - 1) * min(tokens / limit, 1), 1)
