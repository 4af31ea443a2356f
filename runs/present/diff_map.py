"""The two maps of an edit: before and after on one scale, ribbons between them, freed space drawn empty.

All numbers are SVG user units. One scale for both sides: a token has the same height left and right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runs.engine.window.diff import Fate

from .diff import Comparison, Row

HEIGHT = 675
TOP = 6
LEFT, RIGHT, BAR = 56, 262, 74
THIN = 1.0
"""Blocks thinner than this are merged with their neighbours of the same class and colour."""

LABEL_STEP = 17
GAP = 0.9
BASELINE = 3.6
"""From the middle of a line of 11 px to its baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A block of a map: one entry, or several thin ones (`rows` are their keys)."""

    rows: tuple[str, ...]
    part: str
    fate: Fate
    y: float
    height: float
    turn: int
    label: str
    tokens: int

    @property
    def key(self) -> str:
        return self.rows[0]

    @property
    def middle(self) -> float:
        return round(self.y + self.height / 2, 1)

    @property
    def keys(self) -> str:
        return " ".join(self.rows)

    @property
    def drawn(self) -> float:
        """Its height with a gap to the next block where there is room for one, and never invisible."""
        return round(self.height - GAP, 2) if self.height >= 3 else max(round(self.height, 2), 0.8)

    @property
    def shrank(self) -> bool:
        return self.fate in (Fate.CLEARED, Fate.OFFLOADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ribbon:
    """What became of a block: a band from its place before to its place after."""

    key: str
    fate: Fate
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Text beside a block; `leader` joins it to the block when it had to move."""

    text: str
    y: float
    leader: str = ""
    strong: bool = False

    @property
    def base(self) -> float:
        return round(self.y + BASELINE, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    before: tuple[Rect, ...]
    after: tuple[Rect, ...]
    ribbons: tuple[Ribbon, ...]
    left_labels: tuple[Label, ...]
    right_labels: tuple[Label, ...]
    freed: Rect | None
    freed_share: int
    height: int = HEIGHT + 2 * TOP
    left: int = LEFT
    right: int = RIGHT
    bar: int = BAR
    freed_x: int = RIGHT + BAR // 2

    @property
    def freed_y(self) -> float:
        return round(self.freed.middle + 16, 1) if self.freed else 0.0

    @property
    def plate(self) -> float:
        return round(self.freed.middle - 14, 1) if self.freed else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a row is drawn: its category (a key of the ten parts), its short name, the turn it belongs to."""

    part: str
    label: str
    turn: int = 0


def draw(comparison: Comparison, looks: Mapping[str, Look]) -> Map:
    """Both maps of a comparison. `looks` by key of row."""
    scale = HEIGHT / max(comparison.totals.before, comparison.totals.after, 1)
    before = _stack([(row, row.tokens_before) for row in comparison.rows if row.before], looks, scale)
    after = _stack([(row, row.tokens_after) for row in _after_order(comparison.rows)], looks, scale)
    freed = comparison.totals.before - comparison.totals.after
    return Map(
        before=before,
        after=after,
        ribbons=tuple(_ribbons(comparison, before, after, scale)),
        left_labels=_turn_labels(before),
        right_labels=_names(after),
        freed=_freed(freed, after) if freed > 0 else None,
        freed_share=round(100 * freed / max(comparison.totals.before, 1)),
    )


def _after_order(rows: Sequence[Row]) -> list[Row]:
    """The window after: what is fixed, the head (the person's messages, what was written), the tail."""
    standing = [row for row in rows if row.after]
    rank = {Fate.PINNED: 1, Fate.RE_ENTERED: 2, Fate.ADDED: 3}
    return sorted(standing, key=lambda row: 0 if not row.message else rank.get(row.fate, 4))


def _stack(rows: Sequence[tuple[Row, int]], looks: Mapping[str, Look], scale: float) -> tuple[Rect, ...]:
    y, rects = float(TOP), list[Rect]()
    for row, tokens in rows:
        height = tokens * scale
        look = looks[row.key]
        last = rects[-1] if rects else None
        if last and last.height < THIN and height < THIN and (last.part, last.fate) == (look.part, row.fate):
            rects[-1] = _merged(last, row.key, height, tokens)
        else:
            rects.append(_rect(row, look, y, height, tokens))
        y += height
    return tuple(rects)


def _rect(row: Row, look: Look, y: float, height: float, tokens: int) -> Rect:
    return Rect(
        rows=(row.key,),
        part=look.part,
        fate=row.fate,
        y=round(y, 2),
        height=round(height, 2),
        turn=look.turn,
        label=look.label,
        tokens=tokens,
    )


def _merged(rect: Rect, key: str, height: float, tokens: int) -> Rect:
    rows = (*rect.rows, key)
    return Rect(
        rows=rows,
        part=rect.part,
        fate=rect.fate,
        y=rect.y,
        height=round(rect.height + height, 2),
        turn=rect.turn,
        label=f"{len(rows)} small entries",
        tokens=rect.tokens + tokens,
    )


def _freed(tokens: int, after: Sequence[Rect]) -> Rect:
    y = after[-1].y + after[-1].height + 4 if after else TOP
    return Rect(
        rows=("freed",),
        part="freed",
        fate=Fate.DROPPED,
        y=round(y, 2),
        height=round(max(TOP + HEIGHT - y, 0), 2),
        turn=0,
        label="freed",
        tokens=tokens,
    )


def _ribbons(
    comparison: Comparison, before: Sequence[Rect], after: Sequence[Rect], scale: float
) -> Iterator[Ribbon]:
    """Entries that stand in both windows go across; folded ones flow into the episode, each by its weight."""
    right = {key: rect for rect in after for key in rect.rows}
    folded = sum(row.tokens_before for row in comparison.of(Fate.FOLDED))
    episode = next((rect for rect in after if rect.part == "episodes" and rect.fate is Fate.ADDED), None)
    at = episode.y if episode else 0.0
    for rect in before:
        if rect.fate is Fate.FOLDED and episode and folded:
            share = episode.height * rect.height / max(folded * scale, 0.01)
            yield _ribbon(rect, at, share)
            at += share
        elif rect.key in right:
            yield _ribbon(rect, right[rect.key].y, right[rect.key].height)


def _ribbon(rect: Rect, y: float, height: float) -> Ribbon:
    x1, x2 = LEFT + BAR, RIGHT
    middle = (x1 + x2) / 2
    top, low = rect.y, rect.y + rect.height
    path = (
        f"M{x1} {top:.1f}C{middle:.0f} {top:.1f} {middle:.0f} {y:.1f} {x2} {y:.1f}V{y + height:.1f}"
        f"C{middle:.0f} {y + height:.1f} {middle:.0f} {low:.1f} {x1} {low:.1f}Z"
    )
    return Ribbon(key=rect.key, fate=rect.fate, path=path)


def _turn_labels(rects: Sequence[Rect]) -> tuple[Label, ...]:
    """Turn numbers along the left edge, as many as fit."""
    labels: list[Label] = []
    for rect in rects:
        text = {"system": "sys", "tools": "tools"}.get(rect.key, str(rect.turn) if rect.turn else "")
        free = not labels or rect.middle - labels[-1].y >= 13
        if text and free and rect.height >= 2 and text != (labels[-1].text if labels else ""):
            labels.append(Label(text=text, y=rect.middle))
    return tuple(labels)


def _names(rects: Sequence[Rect]) -> tuple[Label, ...]:
    """Names of the blocks after, pushed apart where they would overlap, with leaders."""
    labels: list[Label] = []
    for text, middle, strong in _spans(rects):
        y = max(middle, labels[-1].y + LABEL_STEP) if labels else middle
        leader = f"M{RIGHT + BAR + 3} {middle:.1f}L{RIGHT + BAR + 11} {y:.1f}"
        labels.append(Label(text=text, y=round(y, 1), leader=leader, strong=strong))
    return tuple(labels)


def _spans(rects: Sequence[Rect]) -> Iterator[tuple[str, float, bool]]:
    """(name, middle, strong) of the fixed parts, the head's parts, and of the tail as one."""
    for name, chosen in _parts_of_head(rects):
        if chosen:
            yield name, (chosen[0].y + chosen[-1].y + chosen[-1].height) / 2, name.startswith("Summary")
    tail = [rect for rect in rects if rect.turn and rect.fate in (Fate.KEPT, Fate.CLEARED, Fate.OFFLOADED)]
    if tail:
        first, last = min(rect.turn for rect in tail), max(rect.turn for rect in tail)
        name = f"Turn {first}" if first == last else f"Turns {first}\u2013{last}"
        yield name, (tail[0].y + tail[-1].y + tail[-1].height) / 2, False


def _parts_of_head(rects: Sequence[Rect]) -> Iterator[tuple[str, list[Rect]]]:
    yield "System prompt", [rect for rect in rects if rect.key == "system"]
    yield "Tool definitions", [rect for rect in rects if rect.key == "tools"]
    pinned = [rect for rect in rects if rect.fate is Fate.PINNED]
    yield f"Pinned ({sum(len(rect.rows) for rect in pinned)})", pinned
    yield "Notes, re-entered", [rect for rect in rects if rect.fate is Fate.RE_ENTERED]
    added = [rect for rect in rects if rect.fate is Fate.ADDED]
    episodes = [rect for rect in added if rect.part == "episodes"]
    yield (episodes[0].label if episodes else ""), episodes
    yield "Added lines", [rect for rect in added if rect.part != "episodes"]
