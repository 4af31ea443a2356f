"""A bench for tools: a workspace, the run's files and archive in memory, a toolbox over all tools."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runs.engine import sandbox
from runs.engine.events import Note, NoteChanged
from runs.engine.memory import MemoryFiles, MemoryHistory
from runs.engine.ports import Cancel, Sandbox, ToolContext, ToolResult
from runs.engine.tools import Toolbox, notes, recall, standard

SANDBOX = sandbox.choose(rehearsal=True, python=Path(sys.executable), uid_slot=7)


@dataclass(slots=True, kw_only=True)
class Bench:
    """Calls tools as the loop does: planned, run, notes taken in."""

    workspace: Path
    spool: Path
    toolbox: Toolbox = field(default_factory=lambda: Toolbox([*standard(), *notes.tools(), *recall.tools()]))
    files: MemoryFiles = field(default_factory=MemoryFiles)
    history: MemoryHistory = field(default_factory=MemoryHistory)
    sandbox: Sandbox = field(default_factory=lambda: SANDBOX)
    notes: dict[int, Note] = field(default_factory=dict)
    cancel: Cancel = field(default_factory=Cancel)
    ids: Iterator[int] = field(default_factory=itertools.count)
    turn: int = 3
    page_tokens: int = 0

    def __call__(self, name: str, **given: Any) -> ToolResult:
        return self.call(f"toolu_{next(self.ids)}", name, given)

    def call(self, tool_use_id: str, name: str, given: Any) -> ToolResult:
        """One call with an id of its own: the same id again is a second try."""
        call = self.toolbox.plan(self.turn, "r-abcde", {"id": tool_use_id, "name": name, "input": given})
        result = self.toolbox.run(call, self.context(call.key))
        for event in result.events:
            if isinstance(event, NoteChanged):
                self.notes[event.note.number] = event.note
        return result

    def context(self, key: str) -> ToolContext:
        return ToolContext(
            run="r-abcde",
            turn=self.turn,
            key=key,
            workspace=self.workspace,
            files=self.files,
            history=self.history,
            notes=lambda: list(self.notes.values()),
            sandbox=self.sandbox,
            cancel=self.cancel,
            spool=self.spool,
            page_tokens=self.page_tokens,
        )

    def says(self, name: str, **given: Any) -> str:
        """The text of a call that must succeed."""
        result = self(name, **given)
        assert not result.is_error, result.content
        assert isinstance(result.content, str)
        return result.content

    def refuses(self, name: str, **given: Any) -> str:
        """The sentence of a call that must be refused."""
        result = self(name, **given)
        assert result.is_error, result.content
        assert isinstance(result.content, str)
        assert "Traceback" not in result.content
        return result.content

    def make(self, path: str, content: str | bytes = "") -> Path:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Bench(workspace=workspace, spool=tmp_path / "exec")


@pytest.fixture(params=["openat2", "walk"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Paths opened by the kernel's openat2 and by the walk that stands in for it."""
    from runs.engine.tools import beneath

    if request.param == "walk":

        def absent(base: int, path: str, flags: int) -> int:
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(beneath, "_openat2", absent)
    return str(request.param)
