"""The window by turn as a picture the server draws: bars up to 200 turns, an area beyond, edits and hits marked.

The plot is 1000 units wide and stretches with the page; heights are pixels. What carries text is placed in percent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from runs.engine.events import PARTS
from runs.models import Run

from . import chart, numbers

WIDTH, HEIGHT = 1000.0, 132
HEADROOM = 1.06
"""The limit lies a little below the top, so that its line is seen."""

CLOSE = 1.6
"""Flags nearer than this share of the width (in percent) to the one before lose their number."""

DENSE = 7
"""The same on a phone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """All bars, or the area, of one part as one path."""

    part: str
    label: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An edit that ended an epoch, between two turns."""

    edit: int
    kind: str
    text: str
    title: str
    x: str
    close: bool
    dense: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label on an axis, or a threshold across the plot. `y` in pixels, `x` in percent."""

    text: str
    y: float = 0.0
    x: str = ""
    css: str = ""


@dataclass(frozen=True, kw_only=True)
class Picture:
    turns: int
    points: int
    shapes: tuple[Shape, ...]
    flags: tuple[Flag, ...]
    thresholds: tuple[Tick, ...]
    levels: tuple[Tick, ...]
    axis: tuple[Tick, ...]
    hits: tuple[str, ...]
    here_x: str
    band: tuple[str, str] | None
    summary: str
    height: int = HEIGHT


def picture(
    run: Run, *, turn: int = 0, hits: Sequence[int] = (), span: tuple[int, int] | None = None
) -> Picture | None:
    """The chart of a run with a turn selected, a page's span shaded and hits marked; None before the first turn."""
    data = chart.columns(run)
    if not data["turns"]:
        return None
    total = max(data["total"], data["turns"][-1])
    top = max(data["limit"], *data["window"]) * HEADROOM
    return Picture(
        turns=total,
        points=len(data["turns"]),
        shapes=tuple(_shapes(data, total, top)),
        flags=tuple(_flags(data["edits"], total)),
        thresholds=tuple(_thresholds(data, top)),
        levels=tuple(_levels(top)),
        axis=tuple(_axis(total)),
        hits=tuple(_percent(at, total) for at in hits if at),
        here_x=_percent(turn, total) if turn else "",
        band=_band(span, total) if span else None,
        summary=chart.summary(run),
    )


def _shapes(data: Mapping[str, Any], total: int, top: float) -> Iterator[Shape]:
    bars = len(data["turns"]) == total and total <= chart.FULL
    below = [0.0] * len(data["turns"])
    for part in PARTS:
        heights = [HEIGHT * tokens / top for tokens in data["parts"][part]]
        if not any(heights):
            continue
        above = [low + height for low, height in zip(below, heights, strict=True)]
        draw = _bars if bars else _area
        yield Shape(part=part, label=data["labels"][part], path=draw(data["turns"], below, above, total))
        below = above


def _bars(turns: Sequence[int], below: Sequence[float], above: Sequence[float], total: int) -> str:
    width = WIDTH / total
    gap = min(width * 0.14, 1.2)
    return "".join(
        f"M{(turn - 1) * width:.1f} {HEIGHT - high:.1f}h{width - gap:.2f}v{high - low:.1f}h-{width - gap:.2f}z"
        for turn, low, high in zip(turns, below, above, strict=True)
        if high > low
    )


def _area(turns: Sequence[int], below: Sequence[float], above: Sequence[float], total: int) -> str:
    xs = [(turn - 0.5) * WIDTH / total for turn in turns]
    over = [f"{x:.1f} {HEIGHT - y:.1f}" for x, y in zip(xs, above, strict=True)]
    under = [f"{x:.1f} {HEIGHT - y:.1f}" for x, y in zip(xs, below, strict=True)]
    return "M" + "L".join([*over, *reversed(under)]) + "z"


def _flags(edits: Sequence[Mapping[str, Any]], total: int) -> Iterator[Flag]:
    last = -100.0
    for edit in edits:
        if edit["kind"] not in ("compaction", "clear"):
            continue
        at = 100 * (edit["turn"] - 1) / total
        text = str(edit["number"]) if edit["kind"] == "compaction" else "clear"
        yield Flag(
            edit=edit["edit"],
            kind=edit["kind"],
            text=text,
            title=f"{numbers.kilo(edit['before'])} → {numbers.kilo(edit['after'])} at turn {edit['turn']:,}",
            x=f"{at:.2f}%",
            close=at - last < CLOSE,
            dense=at - last < DENSE,
        )
        last = at


def _thresholds(data: Mapping[str, Any], top: float) -> Iterator[Tick]:
    limit = data["limit"]
    yield Tick(text=f"limit {numbers.kilo(limit)}", y=_y(limit, top), css="limit")
    for mark in data["marks"]:
        yield Tick(text=mark["label"], y=_y(mark["at"], top), css=mark["key"])


def _levels(top: float) -> Iterator[Tick]:
    """Round numbers on the left, three or four of them."""
    step = next(size for size in _round_steps() if top / size <= 5)
    for level in range(step, int(top / HEADROOM), step):
        yield Tick(text=numbers.kilo(level), y=_y(level, top))


def _round_steps() -> Iterator[int]:
    size = 1000
    while True:
        yield from (size, size * 2, size * 5)
        size *= 10


def _axis(total: int) -> Iterator[Tick]:
    step = next(size for size in chain((1, 2, 5), _round_steps_of_turns()) if total / size <= 9)
    yield Tick(text="1", x=_percent(1, total))
    for turn in range(step, total + 1, step):
        if turn > 1:
            yield Tick(text=numbers.exact(turn), x=_percent(turn, total))


def _round_steps_of_turns() -> Iterator[int]:
    size = 10
    while True:
        yield from (size, size * 2, size * 25 // 10, size * 5)
        size *= 10


def _band(span: tuple[int, int], total: int) -> tuple[str, str]:
    first, last = span
    return f"{100 * (first - 1) / total:.2f}%", f"{100 * (last - first + 1) / total:.2f}%"


def _percent(turn: int, total: int) -> str:
    return f"{100 * (turn - 0.5) / total:.2f}%"


def _y(tokens: float, top: float) -> float:
    return round(HEIGHT - HEIGHT * tokens / top, 1)
