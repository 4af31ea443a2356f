"""A run that goes on under another release: its system prompt is another, and an llm that binds thinking to it refuses
what it thought before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runs import runner
from runs.engine import assemble
from runs.models import Edit, Run
from runs.runner.warm import warm
from runs.store.verify import verify

from .conftest import Walk

Begin = Callable[..., Run]


def test_thinking_stays_however_often_a_run_is_taken_up(begin: Begin, one_turn_a_slice: None) -> None:
    run = begin()
    for _ in range(6):
        warm.forget()
        runner.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "done"
    assert not Edit.objects.filter(run=run).exists()


def test_a_run_goes_on_under_another_system_prompt(
    begin: Begin, walk: Walk, one_turn_a_slice: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = begin()
    runner.advance(run.pk)
    newer = tmp_path / "system.md"
    newer.write_text(assemble.SYSTEM.read_text(encoding="utf-8") + "\nBe brief.", encoding="utf-8")
    monkeypatch.setattr(assemble, "SYSTEM", newer)
    warm.forget()
    run = walk(run)
    assert run.state == "done", run.state_reason
    assert [edit.kind for edit in Edit.objects.filter(run=run)] == ["clear_thinking"]
    assert verify(run).ok
