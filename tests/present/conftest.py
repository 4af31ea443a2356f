"""A run that is being written, for tests of what pages show of it: the engine's window, the archive's own door."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine import events as ev
from runs.models import Event, Run
from tests import story
from tests.builders import Building, a_person

LIMIT = 24_000
READ = story.Call(name="read_file", input={"path": "a.py"}, result="line\n" * 400)
RED = story.Call(
    name="run_command",
    input={"command": "python -m unittest"},
    result="\n".join(
        [
            "exit code 1 · 0.9 s · 90 bytes, 0 omitted",
            "F.",
            "Traceback (most recent call last):",
            "AssertionError: 41 != 40",
            "FAILED",
        ]
    ),
)


class Scene(Building):
    """A run under construction with the words tests need."""

    @property
    def fresh(self) -> Run:
        return Run.objects.get(pk=self.run.pk)

    def turns(self, count: int, *calls: story.Call, words: str = "On with it.", thinking: str = "") -> None:
        for _ in range(count):
            self.take(story.Step(words=words, calls=calls, thinking=thinking))

    def tell(self, *events: ev.Event) -> None:
        self._write(*events)

    def events(self, after: int = 0) -> list[Event]:
        return list(Event.objects.filter(run=self.run, seq__gt=after).order_by("seq"))

    @property
    def seq(self) -> int:
        return self.fresh.next_seq - 1

    def make_room(self) -> None:
        """Nothing by itself: each test says when its window is edited."""


@pytest.fixture
def scene(db: None) -> Scene:
    return a_scene()


def a_scene(
    owner: Any = None, goal: str = "Find out why invoices come twice.", title: str = "Twice"
) -> Scene:
    return Scene.start(owner or a_person("ada"), limit=LIMIT, goal=goal, title=title, llm="rehearsal")
