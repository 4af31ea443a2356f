"""The vital signs of a run: how it is, how full its window is and until when, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.utils import timezone

from runs.engine.events import PARTS
from runs.engine.policy import Policy
from runs.engine.policy.model import from_mapping
from runs.models import ENDED, Run, Turn

from .now import Now
from .status import BANNERS, UNSURE, Status, status
from .window_list import describes, window_list

LABELS = {
    "system": "System",
    "tools": "Tools",
    "memory": "Memory",
    "notes": "Notes",
    "episodes": "Summary",
    "person": "Person",
    "assistant": "Assistant",
    "thinking": "Thinking",
    "results": "Results",
    "stubs": "Stubs",
}
NEAR = 0.17
"""Labels of marks closer than this share of the gauge turn away from each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of the gauge, in percent of its width."""

    part: str
    label: str
    tokens: int
    x: str
    width: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A threshold of the policy. `at` in tokens, `left`: turns until it is reached, None where nobody knows."""

    key: str
    label: str
    share: float
    at: int
    x: str
    label_x: str
    anchor: str
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How full the window is, and with what."""

    tokens: int
    parts: Mapping[str, int]
    limit: int
    estimated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    tokens: int
    limit: int
    share: float
    segments: tuple[Segment, ...]
    marks: tuple[Mark, ...]
    estimated: bool
    fill: str

    @property
    def past(self) -> str:
        """The mark the window has passed: compact before clear."""
        passed = [mark.key for mark in self.marks if self.tokens >= mark.at]
        return "over" if self.tokens > self.limit else passed[-1] if passed else ""

    @property
    def sentence(self) -> str:
        left = next(
            (f", {mark.label} in about {mark.left} turns" for mark in self.marks if mark.left is not None), ""
        )
        return f"{self.tokens:,} of {self.limit:,} tokens{left}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Microdollars; shares of 1. None: nothing is known yet."""

    spent: int
    budget: int
    per_turn: float | None
    per_hour: float | None
    cache: float | None
    mean_input: float | None
    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    run: Run
    status: Status
    turn: int
    max_turns: int
    started: datetime
    ended: datetime | None
    elapsed: float
    gauge: Gauge | None
    limit: int
    money: Money

    @property
    def is_over(self) -> bool:
        return self.run.state in ENDED

    @property
    def banner(self) -> str:
        unsure = self.run.state == "waiting" and self.status.key == UNSURE
        return "warn" if unsure else BANNERS.get(self.run.state, "")

    @property
    def owner(self) -> str:
        name = self.run.owner.get_username()
        return "you" if name == "local" else name

    @property
    def worker(self) -> str:
        return self.run.lease_owner if self.run.state == "running" else ""


def vitals(run: Run, now: Now | None = None) -> Vitals:
    """`now`: of the same run, where others need of it what is read here."""
    seen = now or Now(run=run)
    policy, last = seen.policy, seen.last
    limit = (
        (last.limit if last else 0)
        or int(run.sums.get("window", {}).get("limit") or 0)
        or policy.window.limit
    )
    step = None if run.state in ENDED else growth(seen.recent)
    elapsed = ((run.ended_at or timezone.now()) - run.created_at).total_seconds()
    return Vitals(
        run=run,
        status=status(run),
        turn=run.turn_no,
        max_turns=policy.valves.turns,
        started=run.created_at,
        ended=run.ended_at,
        elapsed=elapsed,
        gauge=gauge(reading(seen, limit), policy, step) if limit else None,
        limit=limit,
        money=_money(run, policy, elapsed),
    )


def policy_of(run: Run) -> Policy:
    return from_mapping(run.policy)


def thresholds(policy: Policy) -> list[tuple[str, str, float]]:
    """(key, words, share of the limit) of the marks a policy sets, lowest first."""
    found = [("hard", "hard", policy.window.hard)]
    if policy.compact.auto != "off":
        found.append(("compact", "compact", policy.compact_at))
    if "clear_results" in policy.techniques and policy.clear_at != policy.compact_at:
        found.append(("clear", "clear", policy.clear_at))
    elif "clear_results" in policy.techniques:
        found[1:] = [("compact", "mark", policy.clear_at)]
    return sorted(found, key=lambda mark: mark[2])


def growth(turns: Sequence[Turn]) -> float | None:
    """Tokens a turn adds, as the median of what the last turns added; None before two turns without an edit."""
    steps = [after.window - before.window for before, after in zip(turns, turns[1:], strict=False)]
    grown = [step for step in steps if step > 0]
    return median(grown) if grown else None


def turns_left(at: int, window: int, step: float | None) -> int | None:
    if step is None or window >= at:
        return None
    return max(1, round((at - window) / step))


def gauge(now: Reading, policy: Policy, step: float | None) -> Gauge:
    full = min(1.0, now.tokens / now.limit)
    return Gauge(
        tokens=now.tokens,
        limit=now.limit,
        share=now.tokens / now.limit,
        segments=segments(now.parts, now.tokens, full),
        marks=marks(policy, now.limit, now.tokens, step),
        estimated=now.estimated,
        fill=_pc(full),
    )


def reading(now: Now, limit: int) -> Reading:
    """The window now: as the last turn left it, or as an edit since then did."""
    last = now.last
    if last is None:
        return Reading(tokens=0, parts={}, limit=limit, estimated=False)
    if describes(last, now.standing):
        return Reading(tokens=last.window, parts=last.parts, limit=limit, estimated=last.estimated)
    shown = window_list(now.run, now.standing, last)
    return Reading(tokens=shown.tokens, parts=shown.parts, limit=limit, estimated=True)


def segments(parts: Mapping[str, int], window: int, full: float = 1.0) -> tuple[Segment, ...]:
    """The ten parts side by side; together they take `full` of the width."""
    found: list[Segment] = []
    total, x = max(1, window), 0.0
    for part in PARTS:
        tokens = int(parts.get(part, 0))
        if tokens <= 0:
            continue
        width = tokens / total * full
        place = {"x": _pc(x), "width": _pc(width), "end": _pc(x + width)}
        found.append(Segment(part=part, label=LABELS[part], tokens=tokens, **place))
        x += width
    return tuple(found)


def marks(policy: Policy, limit: int, window: int, step: float | None) -> tuple[Mark, ...]:
    found = thresholds(policy)
    placed: list[Mark] = []
    for at, (key, label, share) in enumerate(found):
        tokens = int(share * limit)
        anchor, x = _label(at, [mark[2] for mark in found])
        left = None if key == "hard" else turns_left(tokens, window, step)
        words = f"{label} {share * 100:.0f} %"
        placed.append(
            Mark(
                key=key,
                label=words,
                share=share,
                at=tokens,
                x=_pc(share),
                label_x=_pc(x),
                anchor=anchor,
                left=left,
            )
        )
    return tuple(placed)


def _label(at: int, shares: Sequence[float]) -> tuple[str, float]:
    """Where a mark's words stand, so that neighbours do not run into each other or off the gauge. "" where the hard
    mark has no room: its tick stays, and the chart names it."""
    share, last = shares[at], at == len(shares) - 1
    crowded = at > 0 and share - shares[at - 1] < NEAR
    if crowded and last:
        return "", share
    if crowded:
        return ("end", 1.0) if share > 0.7 else ("start", share)
    if not last and shares[at + 1] - share < NEAR:
        return ("end", share) if share > 0.3 else ("start", share)
    return ("end", 1.0) if share > 0.86 else ("middle", share)


def _money(run: Run, policy: Policy, elapsed: float) -> Money:
    sums = run.sums or {}
    tokens = sums.get("tokens", {})
    fresh, read = int(tokens.get("input", 0)), int(tokens.get("cache_read", 0))
    prompt = fresh + read + int(tokens.get("cache_write", 0))
    turns, cost = int(sums.get("turns", 0)), int(sums.get("cost", 0))
    return Money(
        spent=cost,
        budget=round(policy.valves.usd * 1_000_000),
        per_turn=cost / turns if turns else None,
        per_hour=cost / elapsed * 3600 if turns and elapsed >= 1 and run.state not in ENDED else None,
        cache=read / prompt if prompt else None,
        mean_input=prompt / turns if turns else None,
        input=prompt,
        output=int(tokens.get("output", 0)),
    )


def _pc(share: float) -> str:
    return f"{share * 100:.3f}%"
