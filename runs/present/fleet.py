"""The fleet: every run as one row, who needs a person first, and what all of them cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from runs.engine.policy.model import from_mapping
from runs.models import ENDED, Run, State

from .fleet_doing import Doing, doing
from .fleet_spark import Line, Spark, sparks
from .status import Status, held_by, status

NEEDS = ("spin", "disk")
"""Reasons of a pause that no person gave: somebody has to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a group of states is shown: word and colour on the filter, place in the order."""

    key: str
    word: str
    tone: str
    icon: str


GROUPS = (
    Look(key="needs", word="Needs you", tone="wait", icon="hand"),
    Look(key="failed", word="Failed", tone="fail", icon="cross"),
    Look(key="running", word="Running", tone="run", icon=""),
    Look(key="paused", word="Paused", tone="pause", icon="pause"),
    Look(key="ended", word="Done", tone="done", icon="tick"),
)
PLACE = {look.key: place for place, look in enumerate(GROUPS)}
ORDERS = {State.FAILED: ("resume", "Retry"), State.PAUSED: ("resume", "Resume")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run. Money in microdollars; `share`, `mark`: parts of the limit, `share` None before turn 1."""

    run: Run
    group: str
    status: Status
    spark: Spark | None
    window: int
    limit: int
    mark: float
    compactions: int
    clearings: int
    spent: int
    per_hour: int | None
    max_turns: int
    doing: Doing
    at: datetime
    order: str
    order_word: str

    @property
    def share(self) -> float | None:
        return self.window / self.limit if self.limit and self.run.turn_no else None

    @property
    def workspace(self) -> str:
        """The folder's name; '' for one that was made for the run and is called like it."""
        name = PurePath(self.run.workspace).name
        return "" if name == self.run.slug else name

    @property
    def past_mark(self) -> bool:
        return self.share is not None and self.share >= self.mark

    @property
    def fill(self) -> float:
        """Width of the small gauge's fill, of 100."""
        return round(100 * min(self.share or 0, 1), 1)

    @property
    def tick(self) -> float:
        return round(100 * self.mark - 0.8, 1)

    @property
    def version(self) -> str:
        """Changes whenever the row may look different; the page swaps only rows whose version changed."""
        return f"{self.run.next_seq}-{self.run.state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    key: str
    word: str
    tone: str
    icon: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    total: int
    per_hour: int
    spent: int
    at_work: int
    version: str


def version(runs: QuerySet[Run], group: str = "", text: str = "") -> str:
    """One short string for the list, by a glance at the runs: the same string means that nothing is to be swapped."""
    seen = list(runs.order_by("pk").values_list("pk", "next_seq", "state"))
    return hashlib.sha256(f"{group}|{text}|{seen}".encode()).hexdigest()[:16]


def fleet(runs: QuerySet[Run], group: str = "", text: str = "") -> Fleet:
    """Rows of `runs`, by group and by words of title, slug, llm, workspace; counts are of all of them."""
    shows = version(runs, group, text)
    rows = sorted(_rows(list(runs)), key=_attention)
    groups = tuple(_group(look, rows) for look in GROUPS)
    shown = [row for row in rows if (not group or row.group == group) and _matches(row, text)]
    return Fleet(
        rows=tuple(shown),
        groups=groups,
        total=len(rows),
        per_hour=sum(row.per_hour or 0 for row in rows),
        spent=sum(row.spent for row in rows),
        at_work=sum(row.run.state == State.RUNNING for row in rows),
        version=shows,
    )


def _group(look: Look, rows: Sequence[Row]) -> Group:
    count = sum(row.group == look.key for row in rows)
    return Group(key=look.key, word=look.word, tone=look.tone, icon=look.icon, count=count)


def _rows(runs: Sequence[Run]) -> Iterable[Row]:
    doings, by = doing(runs), held_by(runs)
    drawn = sparks([_line(run) for run in runs])
    for run in runs:
        yield _row(run, doings[run.pk], drawn.get(run.pk), status(run, by))


def _line(run: Run) -> Line:
    limit = run.sums.get("window", {}).get("limit", 0)
    mark, _ = _numbers(json.dumps(run.policy, sort_keys=True))
    return Line(run=run.pk, turns=run.turn_no, version=run.version, limit=limit, mark=mark)


def _row(run: Run, now: Doing, drawn: Spark | None, shown: Status) -> Row:
    mark, turns = _numbers(json.dumps(run.policy, sort_keys=True))
    window: dict[str, Any] = run.sums.get("window", {})
    limit = window.get("limit", 0)
    order, order_word = _order(run)
    return Row(
        run=run,
        group=group_of(run),
        status=shown,
        spark=drawn,
        window=window.get("final", 0),
        limit=limit,
        mark=mark,
        compactions=run.sums.get("compactions", 0),
        clearings=run.sums.get("clearings", 0),
        spent=run.sums.get("cost", 0),
        per_hour=_per_hour(run),
        max_turns=turns,
        doing=now,
        at=now.at or run.created_at,
        order=order,
        order_word=order_word,
    )


@lru_cache(maxsize=200)
def _numbers(policy: str) -> tuple[float, int]:
    """Where a policy works on the window, and how many turns it allows. Few runs have a policy of their own."""
    found = from_mapping(json.loads(policy))
    return min(found.clear_at, found.compact_at), found.valves.turns


def _why(run: Run) -> str:
    return run.reason.partition(":")[0].strip()


def _order(run: Run) -> tuple[str, str]:
    """The one button of a row: what helps this run now."""
    if run.state == State.WAITING and _why(run) == "llm":
        return "resume", "Retry"
    return ORDERS.get(State(run.state), ("", ""))


def group_of(run: Run) -> str:
    """Where a run stands on the fleet. Whatever waits for a person needs you, whichever state it is in."""
    if run.state == State.WAITING and _why(run) != "children":
        return "needs"
    if run.state == State.PAUSED:
        return "needs" if _why(run) in NEEDS else "paused"
    if run.state in ENDED:
        return "failed" if run.state == State.FAILED else "ended"
    return "running"


def _attention(row: Row) -> tuple[int, float, float]:
    """Needs you, failed, then how full; what has ended comes last, newest first."""
    ended = row.run.ended_at if row.run.state in ENDED else None
    newest = -(ended or row.run.created_at).timestamp()
    return PLACE[row.group], 0.0 if ended else -(row.share or 0), newest


def _matches(row: Row, text: str) -> bool:
    hay = f"{row.run.title} {row.run.slug} {row.run.llm} {row.run.workspace}".casefold()
    return all(word in hay for word in text.casefold().split())


def _per_hour(run: Run) -> int | None:
    """Microdollars an hour of a run at work, as its own page says."""
    seconds = (timezone.now() - run.created_at).total_seconds()
    if run.state != State.RUNNING or not run.turn_no or seconds < 1:
        return None
    return int(run.sums.get("cost", 0) / seconds * 3600)
