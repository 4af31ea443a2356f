"""Everything the page of one edit shows, read from the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Max, Min

from runs.engine.errors import EngineError
from runs.engine.llm import capability
from runs.engine.ports import Price
from runs.engine.window.diff import Fate
from runs.models import Edit, Episode, Run, Turn

from . import diff_cost, diff_window, numbers
from .diff import Comparison, Row, Sum
from .diff_labels import Name
from .diff_map import Look, Map, draw
from .diff_read import Found, read
from .edits import kind_of, number_of, who

WORDS = {
    Fate.KEPT: "kept",
    Fate.FOLDED: "folded",
    Fate.CLEARED: "cleared",
    Fate.OFFLOADED: "offloaded",
    Fate.PINNED: "pinned",
    Fate.RE_ENTERED: "re-entered",
    Fate.DROPPED: "dropped",
    Fate.ADDED: "added",
}

FATE_ICONS = {
    Fate.CLEARED: "broom",
    Fate.OFFLOADED: "box",
    Fate.PINNED: "pin",
    Fate.RE_ENTERED: "refresh",
    Fate.DROPPED: "clear",
    Fate.ADDED: "plus",
}
METHODS = {"summary": "summarise", "clear": "clear results", "both": "summarise + clear"}
TITLES = {"clear": "Window cleared", "clearing": "Results cleared", "offload": "Result offloaded"}
NO_SUMMARY = {
    "clear": "Clear restarts the window with the goal, what the person wrote, the pins and the notes.",
    "clearing": "Old tool results shrank to a marker that says how to get them back. The calls stay.",
    "offload": "A large result went to a file of the run. Head, tail and its path stay in the window.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRow:
    """One line of the list. `after` is what stands after: a number, "same", or where it went."""

    row: Row
    part: str
    turn: int
    text: str
    code: str
    icon: str
    after: str
    word: str

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def fate_icon(self) -> str:
        return FATE_ICONS.get(self.row.fate, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter of the list: one class with its count and its share of both totals."""

    word: str
    sum: Sum


@dataclass(frozen=True, kw_only=True)
class Page:
    """One edit. `comparison` is None when it failed: the window stayed as it was."""

    run: Run
    edit: Edit
    kind: str
    number: int
    epoch: int
    llm: str
    limit: int
    episode: Episode | None
    cost: diff_cost.Cost
    price: Price | None
    comparison: Comparison | None = None
    blocks: tuple[BlockRow, ...] = ()
    chips: tuple[Chip, ...] = ()
    map: Map | None = None
    previous: int | None = None
    following: int | None = None

    @property
    def paid_back(self) -> int | None:
        return self.cost.paid_back_at(self.edit.turn)

    @property
    def is_paid_back(self) -> bool:
        return self.paid_back is not None and self.paid_back <= self.run.turn_no

    @property
    def title(self) -> str:
        if self.edit.state == "failed":
            return "Compaction"  # only those that came about are counted
        return TITLES.get(self.kind) or f"Compaction {self.number}"

    @property
    def method_words(self) -> str:
        return "no llm call" if self.kind in TITLES else METHODS.get(self.edit.method, self.edit.method)

    @property
    def who(self) -> str:
        return who(self.edit)

    @property
    def cuts(self) -> bool:
        """Whether it ended an epoch."""
        return self.kind in ("compaction", "clear") and self.edit.state != "failed"

    @property
    def no_summary(self) -> str:
        return NO_SUMMARY.get(self.kind, "The window changed without a summary.")

    @property
    def folded(self) -> bool:
        return bool(self.comparison and self.comparison.of(Fate.FOLDED))

    @property
    def ledger(self) -> list[tuple[str, list[str]]]:
        """The ledger by kind: ("files read", ["a.py", …])."""
        lines = self.episode.ledger.splitlines() if self.episode else []
        parted = [line.partition(": ") for line in lines if line.strip()]
        return [(kind, rest.split(", ")) if rest else ("", [kind]) for kind, _, rest in parted]

    @property
    def freed(self) -> int:
        return self.edit.tokens_before - (self.edit.tokens_after or self.edit.tokens_before)


def page(run: Run, edit: Edit) -> Page:
    """The page of an edit: a dozen queries, whatever the length of the run."""
    about = _about(run, edit)
    frame = diff_window.frame_of(run, edit.turn)
    if edit.after is None or edit.state == "failed" or frame is None:
        spent = diff_cost.Cost(call=edit.cost or None, rewritten=0, rewrite=None, saves=None, turns=None)
        return Page(cost=spent, **about)
    found = read(run, edit)
    names = {row.key: found.name(row) for row in found.comparison.rows}
    totals = found.comparison.totals
    rewritten = diff_cost.rewritten(found.comparison)
    freed = totals.before - totals.after
    looks = {row.key: _look(found, row, names[row.key], edit) for row in found.comparison.rows}
    return Page(
        cost=diff_cost.cost(call=edit.cost, rewritten=rewritten, freed=freed, price=about["price"]),
        comparison=found.comparison,
        blocks=tuple(_block(row, names[row.key], found.turn(row.key), edit) for row in found.comparison.rows),
        chips=tuple(Chip(word=WORDS[item.fate], sum=item) for item in found.comparison.sums()),
        map=draw(found.comparison, looks),
        **about,
    )


def _look(found: Found, row: Row, name: Name, edit: Edit) -> Look:
    new = name.part == "episodes" and row.fate is Fate.ADDED
    label = f"Summary {edit.episode}" if new and edit.episode else name.whole
    return Look(part=name.part, label=label, turn=found.work_turn(row.key))


def _about(run: Run, edit: Edit) -> dict[str, Any]:
    rows = Edit.objects.filter(run=run)
    turn = Turn.objects.filter(run=run, number=edit.turn).order_by("-attempt").first()
    cuts = rows.filter(kind__in=("compact", "clear"), state="applied", number__lt=edit.number)
    return {
        "run": run,
        "edit": edit,
        "kind": kind_of(edit),
        "number": number_of(edit),
        "epoch": cuts.count() + 1,
        "llm": turn.frame.llm if turn else run.llm,
        "limit": (turn.limit if turn else 0) or run.sums.get("window", {}).get("limit", 0),
        "episode": Episode.objects.filter(run=run, number=edit.episode).first() if edit.episode else None,
        "price": price_of(run.llm),
        "previous": rows.filter(number__lt=edit.number).aggregate(number=Max("number"))["number"],
        "following": rows.filter(number__gt=edit.number).aggregate(number=Min("number"))["number"],
    }


def price_of(llm: str) -> Price | None:
    """What an llm costs, as far as our table and the settings know."""
    try:
        return capability(llm, getattr(settings, "AGENTDASH_PRICES", {})).price
    except EngineError:
        return None


def _block(row: Row, name: Name, turn: int, edit: Edit) -> BlockRow:
    return BlockRow(
        row=row,
        part=name.part,
        turn=turn,
        text=name.text,
        code=name.code,
        icon=name.icon,
        after=_after(row, edit),
        word=WORDS[row.fate],
    )


def _after(row: Row, edit: Edit) -> str:
    """What stands in the window after: tokens, "same", or where the entry went."""
    if row.fate is Fate.FOLDED:
        return f"in #{edit.episode}" if edit.episode else numbers.MINUS
    if row.after is None:
        return "\u2013"
    return "same" if row.before is row.after and row.fate is not Fate.RE_ENTERED else f"{row.tokens_after:,}"
