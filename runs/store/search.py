"""Search over everything any llm of this house ever saw, and where each line is now.

State of a hit: `window` (sent as it is), `cleared`, `offloaded`, `folded` (into an episode) or `dropped`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from runs import models
from runs.engine.events import Form, Version
from runs.engine.messages import Message

from . import index, windows
from .layers import excerpt

SNIPPET = 400


class Where(StrEnum):
    WINDOW = "window"
    FOLDED = "folded"
    CLEARED = "cleared"
    OFFLOADED = "offloaded"
    DROPPED = "dropped"


OF_FORM = {Form.FULL: Where.WINDOW, Form.CLEARED: Where.CLEARED, Form.PREVIEW: Where.OFFLOADED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A message that a query found. `episode`: the one it is folded into, or 0; `snippet`: whole lines."""

    run: models.Run
    message: int
    turn: int
    author: str
    kind: str
    state: Where
    episode: int
    snippet: str
    score: float


def find(
    text: str, *, run: models.Run | None = None, owner_id: int | None = None, limit: int = 50
) -> list[Found]:
    """Messages that hold every word of `text`, best first: of one run, of one person's runs, or of all."""
    places = index.find(text, run_id=run.pk if run else None, limit=limit if owner_id is None else limit * 4)
    runs = _runs({place.run_id for place in places}, owner_id)
    numbers: dict[int, list[int]] = defaultdict(list)
    for place in places:
        if place.run_id in runs:
            numbers[place.run_id].append(place.number)
    messages = {run_id: _by_number(run_id, some) for run_id, some in numbers.items()}
    whereabouts = {run_id: Whereabouts(runs[run_id]) for run_id in numbers}
    found: list[Found] = []
    for place in places:
        message = messages.get(place.run_id, {}).get(place.number)
        if message is not None:
            found.append(_found(runs[place.run_id], whereabouts[place.run_id], message, place.score, text))
    return found[:limit]


class Whereabouts:
    """Where a run's messages are now: by its newest version and, for what left the window, by the edits."""

    def __init__(self, run: models.Run) -> None:
        self.run = run

    @cached_property
    def newest(self) -> Version:
        return windows.one_version(self.run.pk, self.run.version)

    @cached_property
    def forms(self) -> Mapping[int, Form]:
        return {item.message: item.form for item in self.newest.items}

    @cached_property
    def chain(self) -> Sequence[tuple[models.Version, frozenset[int]]]:
        """The versions from the newest back to the first, along their parents, with what each lists."""
        rows = {row.number: row for row in models.Version.objects.filter(run=self.run)}
        number, found = self.run.version, []
        while number in rows:
            row = rows[number]
            found.append((row, frozenset(item[0] for item in row.items)))
            number = row.parent
        return found

    @cached_property
    def episodes(self) -> Mapping[int, int]:
        """Episode by edit, for the edits that made one."""
        made = models.Edit.objects.filter(run=self.run, episode__isnull=False)
        return {row.number: row.episode or 0 for row in made}

    def of(self, number: int) -> tuple[Where, int]:
        """The state of a message, and the episode it was folded into (0 for none)."""
        if number in self.forms:
            return OF_FORM[self.forms[number]], 0
        if number > self.newest.base:
            return Where.WINDOW, 0
        episode = self.episodes.get(self._left_by(number), 0)
        return (Where.FOLDED, episode) if episode else (Where.DROPPED, 0)

    def _left_by(self, number: int) -> int:
        """The edit that took it out: that of the oldest version, from the newest back, that lacks it."""
        edit = 0
        for row, listed in self.chain:
            if number in listed or number > row.base:
                break
            edit = row.edit
        return edit


def _runs(ids: Iterable[int], owner_id: int | None) -> dict[int, models.Run]:
    found = models.Run.objects.filter(pk__in=list(ids))
    return {run.pk: run for run in (found if owner_id is None else found.filter(owner_id=owner_id))}


def _by_number(run_id: int, numbers: Sequence[int]) -> dict[int, Message]:
    return {message.number: message for message in windows.messages(run_id, numbers)}


def _found(run: models.Run, whereabouts: Whereabouts, message: Message, score: float, text: str) -> Found:
    state, episode = whereabouts.of(message.number)
    return Found(
        run=run,
        message=message.number,
        turn=message.turn,
        author=message.author.value,
        kind=message.kind.value,
        state=state,
        episode=episode,
        snippet=excerpt(index.text_of(message.content), text, SNIPPET),
        score=score,
    )
