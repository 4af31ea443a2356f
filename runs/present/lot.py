"""Some events of a run that are drawn together: what they need is read once, and only what they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from runs.models import Edit, Event, Turn
from runs.store import page_reads

from .material import Material, gather
from .now import Now


@dataclass(frozen=True, kw_only=True)
class Lot:
    now: Now
    events: Sequence[Event]

    @cached_property
    def material(self) -> Material:
        return gather(self.now.run, self.events)

    @cached_property
    def turns(self) -> Mapping[int, Turn]:
        """The turns that closed, by number."""
        recent = {turn.number: turn for turn in self.now.recent}
        closed = {event.turn for event in self.events if event.kind == "turn.closed"}
        return recent | page_reads.turns(self.now.run, closed - recent.keys())

    def was_started(self, event: Event) -> bool:
        """Whether this end of a compaction has a beginning that the page shows."""
        begun = (one for one in self.events if one.kind == "compaction.started" and one.seq < event.seq)
        here = any(one.data["edit"] == event.data["edit"] for one in begun)
        return here or page_reads.was_started(self.now.run, event)

    def edit(self, event: Event) -> Edit | None:
        return self.material.edits.get(int(event.data["edit"]))
