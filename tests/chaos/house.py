"""A house that can be killed: `agentdash serve` as a process of its own, on a home of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import wait_until

ROOT = Path(__file__).resolve().parents[2]
AGENTDASH = (sys.executable, "-c", "from agentdash.cli import main; main()")
FOREIGN = ("AGENTDASH_", "ANTHROPIC_", "DJANGO_", "REDIS_URL", "DATABASE_URL")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@dataclass(slots=True)
class Process:
    """One life of the house. `output` is everything it printed."""

    inner: subprocess.Popen[bytes]
    printed: Path

    @property
    def pid(self) -> int:
        return self.inner.pid

    @property
    def output(self) -> str:
        return self.printed.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """kill -9: nothing in it gets to do anything more."""
        self.inner.kill()
        self.inner.wait()

    def interrupt(self, seconds: float = 20) -> float:
        """Ctrl-C. Returns how many seconds it took to end."""
        began = time.monotonic()
        self.inner.send_signal(signal.SIGINT)
        self.inner.wait(seconds)
        return time.monotonic() - began


@dataclass(slots=True)
class House:
    """A home, and the processes that serve it one after the other."""

    home: Path
    port: int = field(default_factory=free_port)
    lives: list[Process] = field(default_factory=list)

    def start(self) -> Process:
        """The next life, as soon as it holds the home."""
        life = self.launch()
        wait_until(
            lambda: life.inner.poll() is not None or "Ctrl-C ends" in life.output, 60, "serve to start"
        )
        assert life.inner.poll() is None, life.output
        return life

    def launch(self) -> Process:
        """A process that wants to serve this home, whatever comes of it."""
        printed = self.home.with_name(f"life-{len(self.lives) + 1}.txt")
        with printed.open("wb") as out:
            inner = subprocess.Popen(
                [*AGENTDASH, "serve", "--port", str(self.port), "--no-open"],
                env=self.environment(),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.lives.append(Process(inner, printed))
        return self.lives[-1]

    def ask(self, *args: str) -> Any:
        """A command's answer in JSON; its exit code must be 0."""
        done = subprocess.run(
            [*AGENTDASH, *args, "--json"], env=self.environment(), capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests but what a process needs to start."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        return kept | {"AGENTDASH_HOME": str(self.home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}

    def rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the process that writes it."""
        connection = sqlite3.connect(f"file:{self.home / 'agentdash.sqlite3'}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(query, given).fetchall()
        finally:
            connection.close()

    def one(self, query: str, *given: object) -> Any:
        return self.rows(query, *given)[0][0]

    def close(self) -> None:
        for life in self.lives:
            if life.inner.poll() is None:
                life.kill()
