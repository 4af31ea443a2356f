from __future__ import annotations

from collections.abc import Callable

import pytest

from runs import control, runner, tasks
from runs.models import Run
from runs.runner import slice as slices
from tests.builders import a_person

GOAL = "Say hello to the world."
Walk = Callable[..., Run]


@pytest.fixture(autouse=True)
def hints(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """No worker: the test walks the slices itself. What a worker would have been told."""
    told: list[int] = []
    monkeypatch.setattr(tasks, "hint", told.append)
    return told


@pytest.fixture
def begin(db: None) -> Callable[..., Run]:
    """A rehearsal run that nobody has walked yet."""

    def made(llm: str = "rehearsal/hello", **asked: object) -> Run:
        return control.start(a_person(), control.Start(goal=GOAL, llm=llm, pace="fast", **asked))  # type: ignore[arg-type]

    return made


@pytest.fixture
def walk() -> Walk:
    return walked


def walked(run: Run, slices: int = 20) -> Run:
    """Slice after slice until the run needs somebody."""
    for _ in range(slices):
        runner.advance(run.pk)
        run.refresh_from_db()
        if run.state not in ("ready", "running"):
            break
    return run


@pytest.fixture
def one_turn_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices so short that a test can act between two turns."""
    monkeypatch.setattr(slices, "TURNS", 1)
