"""A worker goes on with the run it has just walked, unless another one waits for a thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs import runner, tasks
from runs.runner.warm import SLICES
from runs.runner.watch import watch


class Thread:
    """What a thread does with a run that always has more to do. `queue`: for each look, whether a hint waits."""

    def __init__(self, queue: Iterator[bool]) -> None:
        self.queue = queue
        self.did: list[str] = []

    def advance(self, run_id: int) -> bool:
        self.did.append("slice")
        return True

    def hint(self, run_id: int) -> bool:
        self.did.append("hint")
        return True


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> Thread:
    made = Thread(iter(()))
    monkeypatch.setattr(runner, "advance", made.advance)
    monkeypatch.setattr(tasks, "hint", made.hint)
    monkeypatch.setattr(tasks, "_nobody_waits", lambda: not next(made.queue))
    return made


def test_a_run_leaves_its_thread_to_one_that_waits(thread: Thread) -> None:
    thread.queue = iter([False, False, True])
    tasks.advance(7)
    assert thread.did == ["slice", "slice", "slice", "hint"]


def test_after_as_many_slices_as_an_agent_is_kept_for_any_worker_may_have_it(thread: Thread) -> None:
    thread.queue = iter([False] * 100)
    tasks.advance(7)
    assert thread.did == ["slice"] * SLICES + ["hint"]


def test_a_worker_that_leaves_begins_nothing_more(thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    thread.queue = iter([False] * 100)
    monkeypatch.setattr(type(watch), "leaving", True)
    tasks.advance(7)
    assert thread.did.count("slice") == 1
