"""What the compact and clear dialogs show: the window now, what would be left, what it costs and saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.engine.events import PARTS
from runs.engine.messages import Author, Kind
from runs.models import Run
from runs.store import page_reads

from . import diff_cost, numbers
from .diff_estimate import METHODS, Estimate, Ground, clear_all, estimates
from .diff_ground import ground
from .vitals import Mark, Segment, marks, segments

WORDS = {
    "clear": ("Clear old tool results", "Each result becomes a short marker. No llm call, instant."),
    "summary": ("Summarise", "One llm call writes an episode in place of the older turns."),
    "both": ("Both", "Results that stay are cleared, the rest is summarised. Smallest window."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A choice of the dialog, with what it would leave at the number of messages chosen now."""

    key: str
    word: str
    about: str
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """One line of what stays or leaves: how many tokens, in how many words."""

    icon: str
    text: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Compact:
    run: Run
    ground: Ground
    all: Sequence[Estimate]
    chosen: Estimate
    methods: tuple[Method, ...]
    now: tuple[Segment, ...]
    after: tuple[Segment, ...]
    marks: tuple[Mark, ...]
    most: int
    verbatim: Stays

    @property
    def words(self) -> dict[str, Any]:
        return words(self.chosen, self.ground)

    @property
    def next_before(self) -> str:
        return next_words(self.chosen.next_before)

    @property
    def after_parts(self) -> list[tuple[str, str, str]]:
        """(part, x, width) of all ten parts: the script only moves them."""
        return [(part, x, width) for part, (x, width) in zip(PARTS, self.words["parts"], strict=True)]

    def table(self) -> dict[str, Any]:
        """Every combination in words, for the script that shows another one at once: no arithmetic there."""
        return {
            "turn": self.ground.turn,
            "rows": {f"{e.method}-{e.keep}": words(e, self.ground) for e in self.all},
        }


@dataclass(frozen=True, kw_only=True)
class Clear:
    run: Run
    ground: Ground
    estimate: Estimate
    now: tuple[Segment, ...]
    after: tuple[Segment, ...]
    marks: tuple[Mark, ...]
    stays: tuple[Stays, ...]
    leaves: tuple[Stays, ...]


def compact(run: Run, method: str, keep: int) -> Compact | None:
    """The dialog with a choice made, by default the policy's own. None before the first turn."""
    base = ground(run)
    if base is None:
        return None
    found = estimates(base)
    wanted = method if method in METHODS else base.policy.compact.method
    kept = keep if keep >= 0 else base.policy.compact.keep_messages
    keeps = sorted({estimate.keep for estimate in found})
    kept = min(keeps, key=lambda known: abs(known - kept))
    by_key = {(estimate.method, estimate.keep): estimate for estimate in found}
    chosen = by_key[wanted, kept]
    return Compact(
        run=run,
        ground=base,
        all=found,
        chosen=chosen,
        methods=tuple(_method(key, by_key[key, kept]) for key in METHODS),
        now=_now(run, base),
        after=segments(chosen.parts, chosen.after, min(1.0, chosen.after / base.limit)),
        marks=marks(base.policy, base.limit, base.window, base.growth or None),
        most=keeps[-1],
        verbatim=_verbatim(base),
    )


def _method(key: str, estimate: Estimate) -> Method:
    word, about = WORDS[key]
    return Method(key=key, word=word, about=about, estimate=estimate)


def _now(run: Run, base: Ground) -> tuple[Segment, ...]:
    last = page_reads.last_closed(run)
    parts: Mapping[str, int] = last.parts if last else {}
    return segments(parts, sum(parts.values()), min(1.0, base.window / base.limit))


def _verbatim(base: Ground) -> Stays:
    """What every window holds word for word: the goal, what the person wrote, the pins."""
    held = [
        sized for sized in base.entries if sized.entry.pinned or sized.entry.message.author is Author.PERSON
    ]
    count = len(held)
    text = "1 message stays" if count == 1 else f"{count} messages stay"
    return Stays(icon="pin", text=text, tokens=round(sum(s.tokens for s in held) * base.ratio))


def words(estimate: Estimate, base: Ground) -> dict[str, Any]:
    """An estimate as the page writes it."""
    share = base.limit and min(1.0, estimate.after / base.limit)
    drawn = {seg.part: (seg.x, seg.width) for seg in segments(estimate.parts, estimate.after, share)}
    return {
        "after": numbers.kilo(estimate.after),
        "about": f"±{numbers.kilo(estimate.about)}" if estimate.about else "",
        "freed": numbers.kilo(max(base.window - estimate.after, 0)),
        "share": numbers.percent(max(base.window - estimate.after, 0) / max(base.window, 1)),
        "call": numbers.usd(estimate.call),
        "rewritten": numbers.kilo(estimate.rewritten),
        "rewrite": numbers.usd(estimate.rewrite),
        "saves": numbers.usd(-estimate.saves if estimate.saves is not None else None),
        "pays": pays(estimate, base.turn),
        "kept": kept(estimate),
        "next": next_words(estimate.next_after),
        "fold": fold_words(estimate),
        "possible": estimate.possible,
        "parts": [drawn.get(part, ("0%", "0%")) for part in PARTS],
        "line": [
            (estimate.call or 0) + (estimate.rewrite or 0),
            estimate.saves or 0,
            estimate.turns or 0,
            diff_cost.read_price(estimate.after, base.price),
        ],
    }


def pays(estimate: Estimate, turn: int) -> str:
    if not estimate.possible:
        return "never: it would not shrink"
    if estimate.turns is None:
        return numbers.UNKNOWN
    if estimate.turns == 0:
        return "at once"
    unit = "turn" if estimate.turns == 1 else "turns"
    return f"{estimate.turns:,} {unit}, turn {turn + estimate.turns:,}"


def kept(estimate: Estimate) -> str:
    if estimate.method == "clear":
        return f"{estimate.keep} results"
    if not estimate.first_kept:
        return "nothing of the tail"
    return f"from turn {estimate.first_kept:,}, {numbers.kilo(estimate.kept_tokens)}"


def fold_words(estimate: Estimate) -> str:
    """What goes into the episode, in turns."""
    return f"turns up to {estimate.last_folded:,}" if estimate.last_folded else "nothing yet"


def next_words(turns: int | None) -> str:
    return "an unknown number of turns" if turns is None else f"≈ {turns:,} turns"


def clear(run: Run) -> Clear | None:
    """None before the first turn."""
    base = ground(run)
    if base is None:
        return None
    estimate = clear_all(base)
    return Clear(
        run=run,
        ground=base,
        estimate=estimate,
        now=_now(run, base),
        after=segments(estimate.parts, estimate.after, min(1.0, estimate.after / base.limit)),
        marks=marks(base.policy, base.limit, base.window, base.growth or None),
        stays=tuple(_stays(base, estimate)),
        leaves=tuple(_leaves(base, estimate)),
    )


def _stays(base: Ground, estimate: Estimate) -> Sequence[Stays]:
    parts = estimate.parts
    lines = [Stays(icon="lock", text="System prompt and tools", tokens=parts["system"] + parts["tools"])]
    verbatim = _verbatim(base)
    lines.append(Stays(icon="person", text="The goal and what you wrote", tokens=verbatim.tokens))
    if parts["notes"]:
        lines.append(Stays(icon="note", text="Notes", tokens=parts["notes"]))
    return lines


def _leaves(base: Ground, estimate: Estimate) -> Sequence[Stays]:
    episodes = [s for s in base.entries if s.entry.message.kind is Kind.EPISODE]
    told = round(sum(s.tokens for s in episodes) * base.ratio)
    work = [s for s in base.entries if s.entry.message.kind in (Kind.ANSWER, Kind.RESULTS)]
    lines = [Stays(icon="compact", text="The summary", tokens=told)] if episodes else []
    if work:
        first, last = work[0].entry.message.turn, work[-1].entry.message.turn
        tokens = base.window - estimate.after - told
        lines.append(
            Stays(icon="list", text=f"Turns {first}\u2013{last}, {len(work)} entries", tokens=tokens)
        )
    return lines
