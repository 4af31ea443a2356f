"""`agentdash` as people start it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("AGENTDASH_", "ANTHROPIC_", "REDIS_URL", "DATABASE_URL", "DJANGO_", "DISPLAY", "WAYLAND_DISPLAY")


@dataclass
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out.strip().splitlines()[-1])


@dataclass
class Terminal:
    """A shell in an empty folder, with an environment of its own."""

    folder: Path
    env: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, *args: str, seconds: float = 120, **env: str) -> Answer:
        done = subprocess.run(
            self._command(args),
            cwd=self.folder,
            env=self.env | env,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return Answer(code=done.returncode, out=done.stdout, err=done.stderr)

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self._command(args),
            cwd=self.folder,
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def _command(self, args: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "agentdash", *args]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    env = kept | {"AGENTDASH_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    folder = tmp_path / "folder"
    folder.mkdir()
    terminal = Terminal(folder=folder, env=env)
    yield terminal
    for process in terminal.started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)


@pytest.fixture
def free_port() -> Callable[[], str]:
    """A port that nobody has now."""

    def find() -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return str(probe.getsockname()[1])

    return find
