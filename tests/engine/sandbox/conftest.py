"""The sandboxes that work on this machine. Where bubblewrap does not, its tests are not collected, and the
header says why.
"""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runs.engine import sandbox
from runs.engine.ports import Cancel, Execution, Sandbox

WALL = sandbox.choose(rehearsal=True, python=Path(sys.executable), uid_slot=7)
PREFIX = Path(sys.base_prefix)
BACKENDS = ["plain"] if WALL.name == "plain" else ["bwrap", "plain"]

collect_ignore = ["test_wall.py"] if WALL.name == "plain" else []


def pytest_report_header() -> str:
    return f"sandbox: {getattr(WALL, 'why', '') or WALL.name}"


@dataclass(slots=True, kw_only=True)
class Shell:
    """A sandbox with a workspace, as a test speaks to it. `mark` is in every command line it starts."""

    sandbox: Sandbox
    workspace: Path
    spool: Path
    mark: str

    def __call__(
        self, command: str, *, timeout: float = 20, key: str = "", cancel: Cancel | None = None
    ) -> Execution:
        return self.sandbox.run(
            command,
            self.workspace,
            timeout=timeout,
            key=key or uuid.uuid4().hex,
            cancel=cancel or Cancel(),
            spool=self.spool,
        )

    def survivors(self) -> str:
        """Processes that still have the mark in their command line, as ps shows them."""
        listing = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        return "\n".join(line for line in listing.splitlines() if self.mark in line)


@pytest.fixture
def make_shell(tmp_path: Path) -> Callable[[Sandbox], Shell]:
    def make(chosen: Sandbox) -> Shell:
        workspace = tmp_path / "workspace"
        workspace.mkdir(exist_ok=True)
        # a number of seconds nobody else sleeps: it can be found in the list of processes
        mark = str(uuid.uuid4().int % 10**9 + 10**9)
        return Shell(sandbox=chosen, workspace=workspace, spool=tmp_path / "exec", mark=mark)

    return make


@pytest.fixture(params=BACKENDS)
def shell(request: pytest.FixtureRequest, make_shell: Callable[[Sandbox], Shell]) -> Iterator[Shell]:
    """Each backend in turn: what is true of one must be true of all."""
    chosen = WALL if request.param == "bwrap" else sandbox.Plain(prefix=PREFIX)
    made = make_shell(chosen)
    yield made
    assert not made.survivors()


@pytest.fixture
def wall(make_shell: Callable[[Sandbox], Shell]) -> Shell:
    return make_shell(WALL)
