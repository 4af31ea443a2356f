"""What an edit would do, before it is asked for: the window after, the call, the cache, when it pays back.

The engine's own rules decide what stays (where the cut falls, what a clearing touches); only the length of a
summary that is not written yet is a guess, and `about` says how far it may be off. All combinations are
worked out at once, so that the dialog answers a change without asking the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine.events import PARTS, Form
from runs.engine.messages import Kind
from runs.engine.policy import Policy
from runs.engine.policy.model import smaller
from runs.engine.ports import Price
from runs.engine.window.cut import messages_start
from runs.engine.window.forms import clearable
from runs.engine.window.head import kept_first

from . import diff_cost
from .diff_window import Sized, Sizes, parts_of

METHODS = ("clear", "summary", "both")
MOST_KEPT = 40
STEP = 2
"""Messages come in pairs: an answer and its results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What estimates are made from. `window`: the total as measured, `growth`: tokens a turn adds, `fixed`: system
    prompt and tools, `ratio`: what was measured to what we would estimate, `notes`: what a new head says of them."""

    entries: tuple[Sized, ...]
    sizes: Sizes
    policy: Policy
    limit: int
    window: int
    growth: float
    turn: int
    price: Price | None
    episode: int
    notes: int
    stubs: Mapping[int, Sized]
    fixed: tuple[int, int]
    ratio: float

    @property
    def mark(self) -> int:
        return int(self.policy.compact_at * self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One combination. Tokens and microdollars; None where nobody can know. `about`: ± tokens."""

    method: str
    keep: int
    after: int
    parts: Mapping[str, int]
    about: int
    call: int | None
    rewritten: int
    rewrite: int | None
    saves: int | None
    turns: int | None
    next_before: int | None
    next_after: int | None
    first_kept: int
    kept_tokens: int
    last_folded: int
    possible: bool

    def freed(self, window: int) -> int:
        return window - self.after


def estimates(ground: Ground) -> list[Estimate]:
    """Every method with every number of messages to keep."""
    most = min(MOST_KEPT, len(ground.entries))
    keeps = range(0, most + 1, STEP)
    return [_estimate(ground, method, keep) for method in METHODS for keep in keeps]


def clear_all(ground: Ground) -> Estimate:
    """What Clear would leave: the goal, the person's messages, the pins, the notes."""
    head = _first(ground, ground.entries)
    return _made(ground, "wipe", 0, head, written=0, start=len(ground.entries))


def _estimate(ground: Ground, method: str, keep: int) -> Estimate:
    if method == "clear":
        after = _cleared(ground, ground.entries, keep)
        return _made(ground, method, keep, after, written=0, start=len(ground.entries))
    start = messages_start([sized.entry for sized in ground.entries], keep)
    head = _first(ground, ground.entries[:start])
    tail = ground.entries[start:]
    kept = _cleared(ground, tail, 0) if method == "both" else list(tail)
    return _made(ground, method, keep, [*head, *kept], written=_episode(ground), start=start)


def _first(ground: Ground, span: Sequence[Sized]) -> list[Sized]:
    by_number = {sized.number: sized for sized in span}
    return [by_number[item.message] for item in kept_first(sized.entry for sized in span)]


def _episode(ground: Ground) -> int:
    """As long as the last summary was; before the first, two thirds of what the policy allows."""
    policy = ground.policy.episode
    text = smaller(policy.tokens, policy.share, ground.limit)
    ledger = smaller(policy.ledger_tokens, policy.ledger_share, ground.limit)
    return ground.episode or round((text + ledger) * 2 / 3)


def _cleared(ground: Ground, span: Sequence[Sized], keep: int) -> list[Sized]:
    """The span with all but its last `keep` results as markers."""
    results = [sized.number for sized in span if sized.entry.message.kind is Kind.RESULTS]
    old = set(results[: max(len(results) - keep, 0)])
    return [ground.stubs.get(sized.number, sized) if sized.number in old else sized for sized in span]


def stubs(entries: Iterable[Sized], sizes: Sizes) -> dict[int, Sized]:
    """The entries that a clearing would touch, as it would leave them, by message."""
    touched = [
        sized
        for sized in entries
        if sized.entry.message.kind is Kind.RESULTS
        and sized.entry.form is Form.FULL
        and not sized.entry.pinned
        and any(clearable(block, sizes.shape, sizes.calls) for block in sized.entry.message.content)
    ]
    made = [(sized, sizes.sized(replace(sized.entry, form=Form.CLEARED))) for sized in touched]
    return {sized.number: stub for sized, stub in made if stub.tokens < sized.tokens}


def _made(
    ground: Ground, method: str, keep: int, window: Sequence[Sized], *, written: int, start: int
) -> Estimate:
    raw = parts_of(*ground.fixed, window)
    raw["episodes"] += written
    raw["notes"] += 0 if method == "clear" else ground.notes
    parts = {name: round(raw[name] * ground.ratio) for name in PARTS}
    after = sum(parts.values())
    rewritten = after - round(_unchanged(ground, window) * ground.ratio)
    call = diff_cost.call_price(prompt=ground.window, written=written, price=ground.price) if written else 0
    freed = ground.window - after
    cost = diff_cost.cost(call=call, rewritten=rewritten, freed=freed, price=ground.price)
    tail = ground.entries[start:]
    work = [sized.entry.message.turn for sized in ground.entries[:start] if sized.entry.message.turn]
    return Estimate(
        method=method,
        keep=keep,
        after=after,
        parts=parts,
        about=round(written * ground.ratio * 0.4),
        call=call,
        rewritten=rewritten,
        rewrite=cost.rewrite,
        saves=cost.saves,
        turns=cost.turns,
        next_before=_turns_left(ground, ground.window),
        next_after=_turns_left(ground, after),
        first_kept=min((sized.entry.message.turn for sized in tail), default=0),
        kept_tokens=round(sum(sized.tokens for sized in tail) * ground.ratio),
        last_folded=max(work, default=0),
        possible=freed > 0,
    )


def _unchanged(ground: Ground, window: Iterable[Sized]) -> int:
    """Tokens in front of the first change: they stay in the cache."""
    same = sum(ground.fixed)
    for was, now in zip(ground.entries, window, strict=False):
        if was != now:
            break
        same += was.tokens
    return same


def _turns_left(ground: Ground, window: int) -> int | None:
    return max(round((ground.mark - window) / ground.growth), 0) if ground.growth > 0 else None
