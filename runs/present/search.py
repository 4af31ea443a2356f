"""Hits of a search: where each line stands now, how many of each, and what matched set apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runs.models import Run
from runs.store.search import Found, Where, find

from .diff_text import Span
from .standing import CLEARED, OFFLOADED, Tag

MOST = 200
WORDS = {
    Where.WINDOW: "In window",
    Where.FOLDED: "Summarised",
    Where.CLEARED: "Cleared",
    Where.OFFLOADED: "Offloaded",
    Where.DROPPED: "Dropped",
}
TAGS = {
    Where.WINDOW: Tag(css="win", text="in window"),
    Where.CLEARED: CLEARED,
    Where.OFFLOADED: OFFLOADED,
    Where.DROPPED: Tag(css="stub", text="dropped", icon="clear", out=True, title="A clear took it out"),
}
KINDS = {
    "goal": "Goal",
    "say": "A person",
    "answer": "The llm",
    "results": "Tool result",
    "episode": "Summary",
}
ICONS = {"goal": "person", "say": "person", "answer": "spark", "results": "terminal", "episode": "compact"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message that matched."""

    found: Found
    tag: Tag
    icon: str
    word: str
    spans: tuple[Span, ...]

    @property
    def id(self) -> str:
        return f"hit-{self.found.run.slug}-{self.found.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    key: str
    word: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Results:
    """`hits` are those of the state asked for; the chips count all. `more`: there may be hits beyond MOST."""

    text: str
    state: str
    hits: tuple[Hit, ...]
    chips: tuple[Chip, ...]
    total: int
    more: bool

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns with a hit, in order, each once: the marks under the chart."""
        return tuple(sorted({hit.found.turn for hit in self.hits}))


def results(text: str, *, run: Run | None = None, owner: int | None = None, state: str = "") -> Results:
    """Search a run, newest first; or everything of an owner, best first."""
    found = find(text, run=run, owner_id=owner, limit=MOST) if text else []
    if run is not None:
        found = sorted(found, key=lambda one: -one.message)
    counts = Counter(one.state for one in found)
    shown = [one for one in found if not state or one.state == state]
    return Results(
        text=text,
        state=state,
        hits=tuple(_hit(one, text) for one in shown),
        chips=tuple(
            Chip(key=where, word=WORDS[where], count=counts[where]) for where in Where if counts[where]
        ),
        total=len(found),
        more=len(found) >= MOST,
    )


def _hit(found: Found, text: str) -> Hit:
    folded = Tag(css="sum", text=f"summarised in #{found.episode}", out=True)
    return Hit(
        found=found,
        tag=folded if found.state is Where.FOLDED else TAGS[found.state],
        icon=ICONS.get(found.kind, "note"),
        word=KINDS.get(found.kind, "Product"),
        spans=tuple(highlighted(matching(found.snippet, text), text)),
    )


def matching(snippet: str, text: str) -> str:
    """The lines of a snippet that match, at most two; the whole of it when none does (folding found it)."""
    words = [word.casefold() for word in re.findall(r"\w+", text)]
    lines = [line.strip() for line in snippet.splitlines() if any(word in line.casefold() for word in words)]
    return "\n".join(lines[:2]) or snippet


def highlighted(snippet: str, text: str) -> Sequence[Span]:
    """The snippet in pieces; those that match a word of the query are `changed`. Case does not matter."""
    words = sorted(set(re.findall(r"\w+", text)), key=len, reverse=True)
    if not words:
        return [Span(text=snippet)]
    pattern = re.compile("|".join(re.escape(word) for word in words), re.IGNORECASE)
    pieces, end = list[Span](), 0
    for match in pattern.finditer(snippet):
        pieces += [Span(text=snippet[end : match.start()]), Span(text=match.group(), changed=True)]
        end = match.end()
    return [piece for piece in [*pieces, Span(text=snippet[end:])] if piece.text]
