"""A run at this moment: what several parts of a page, or of what a socket sends, need is read once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from runs.engine.policy import Policy
from runs.engine.policy.model import from_mapping
from runs.models import Run, Turn
from runs.store import page_reads

from .standing import Standing

LOOK_BACK = 12
"""Closed turns from which growth is read: enough to smooth one large result, few enough to follow a change of work."""


@dataclass(frozen=True, kw_only=True)
class Now:
    """Reads what it is asked for, and that only when it is asked."""

    run: Run
    known: Standing | None = None

    @classmethod
    def of(cls, run_id: int) -> Now:
        """Run, owner and window in one query."""
        standing = Standing.of(run_id)
        return cls(run=standing.run, known=standing)

    @cached_property
    def standing(self) -> Standing:
        return self.known or Standing.now(self.run)

    @cached_property
    def recent(self) -> Sequence[Turn]:
        """The newest closed turns, oldest first."""
        return page_reads.recent_closed(self.run, LOOK_BACK)

    @property
    def last(self) -> Turn | None:
        """The turn that closed last."""
        return self.recent[-1] if self.recent else None

    @cached_property
    def policy(self) -> Policy:
        return from_mapping(self.run.policy)
