"""A house that can be killed: agentdash as processes of their own, on a home of its own.

`House` is one process on SQLite, `Scaled` pages and workers on Redis and Postgres; checks that hold for both take
either.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.conftest import wait_until

from .servers import Postgres, Redis, free_port

ROOT = Path(__file__).resolve().parents[2]
AGENTDASH = (sys.executable, "-c", "from agentdash.cli import main; main()")
FOREIGN = ("AGENTDASH_", "ANTHROPIC_", "DJANGO_", "REDIS_URL", "DATABASE_URL")
FULL = os.environ.get("AGENTDASH_CHAOS", "quick") == "full"
"""Sizes: those of `make chaos`, else those that fit into every `make test`."""


def size(quick: int, full: int) -> int:
    return full if FULL else quick


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

    @property
    def lives(self) -> bool:
        return self.inner.poll() is None

    def kill(self) -> None:
        """kill -9: nothing in it gets to do anything more."""
        self.inner.kill()
        self.inner.wait()

    def interrupt(self, seconds: float = 20) -> float:
        """Ctrl-C. Returns how many seconds it took to end."""
        return self.send(signal.SIGINT, seconds)

    def send(self, number: int, seconds: float = 30) -> float:
        """A signal, and the wait for the end it brings."""
        began = time.monotonic()
        self.inner.send_signal(number)
        self.inner.wait(seconds)
        return time.monotonic() - began


@dataclass(slots=True)
class House:
    """A home, and the processes that serve it one after the other."""

    home: Path
    port: int = field(default_factory=free_port)
    lives: list[Process] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)
    """Variables that its processes get beside the usual ones."""

    def start(self) -> Process:
        """The next life, as soon as it holds the home."""
        life = self.launch()
        wait_until(lambda: not life.lives or "Ctrl-C ends" in life.output, 60, "serve to start")
        assert life.lives, life.output
        return life

    def launch(self) -> Process:
        """A process that wants to serve this home, whatever comes of it."""
        return self.run("serve", "--port", str(self.port), "--no-open")

    def run(self, *args: str, **variables: str) -> Process:
        """A command of agentdash as a process that stays."""
        printed = self.home.with_name(f"life-{len(self.lives) + 1}.txt")
        with printed.open("wb") as out:
            inner = subprocess.Popen(
                [*AGENTDASH, *args],
                env=self.environment() | variables,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.lives.append(Process(inner, printed))
        return self.lives[-1]

    def ask(self, *args: str) -> Any:
        """A command's answer in JSON; its exit code must be 0."""
        done = subprocess.run(
            [*AGENTDASH, *args, "--json"], env=self.environment(), capture_output=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests but what a process needs to start."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        kept |= {"AGENTDASH_HOME": str(self.home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        return kept | self.extra

    def rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the process that writes it. `?` stands for what is given."""
        connection = sqlite3.connect(f"file:{self.home / 'agentdash.sqlite3'}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(query, given).fetchall()
        finally:
            connection.close()

    def one(self, query: str, *given: object) -> Any:
        return self.rows(query, *given)[0][0]

    def close(self) -> None:
        for life in self.lives:
            if life.lives:
                life.kill()


@dataclass(slots=True)
class Scaled(House):
    """Pages and workers, each a process, on a Redis and a Postgres of their own."""

    redis: Redis = field(default_factory=Redis)
    postgres: Postgres = field(default_factory=Postgres)
    database: str = ""

    def begin(self) -> None:
        """A database of its own, with tables; Redis forgets what others left."""
        self.database = self.postgres.make(f"house_{uuid.uuid4().hex[:8]}")
        if self.redis.inner is None:
            self.redis.start()
        self.redis.forget()
        self.extra |= {
            "REDIS_URL": self.redis.url,
            "DATABASE_URL": self.database,
            "AGENTDASH_LEASE_MS": "2000",
        }
        self.migrate()

    def migrate(self) -> None:
        done = subprocess.run(
            [*AGENTDASH, "migrate"], env=self.environment(), capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> Process:
        """A worker that takes hints."""
        return self.worker()

    def worker(self, concurrency: int = 16, **variables: str) -> Process:
        life = self.run("worker", "--concurrency", str(concurrency), **variables)
        wait_until(lambda: not life.lives or "ready." in life.output, 60, "a worker to start")
        assert life.lives, life.output
        return life

    def web(self) -> Process:
        life = self.run("web", "--port", str(self.port))
        wait_until(lambda: not life.lives or "Pages: " in life.output, 60, "the pages to start")
        assert life.lives, life.output
        return life

    def hint(self, run_id: int, times: int) -> None:
        """So many Celery messages for one run."""
        self._inside(f"from runs.tasks import hint\nfor _ in range({times}): hint({run_id})")

    def begin_unheard(self, llm: str, runs: int) -> None:
        """So many runs whose first Celery message never arrives."""
        start = f"control.start(door.local(), control.Start(goal='Run errands', llm={llm!r}, pace='fast'))"
        unheard = (
            "from agentdash import door; from runs import control, tasks; tasks.hint = lambda run_id: True"
        )
        self._inside(f"{unheard}\nfor _ in range({runs}): {start}")

    def _inside(self, code: str) -> None:
        """Python in a process of its own that knows this house."""
        ground = "import agentdash.cli.ground as ground; ground.django()"
        subprocess.run(
            [sys.executable, "-c", f"{ground}\n{code}"], env=self.environment(), check=True, timeout=300
        )

    def rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True, connect_timeout=5) as connection:
            return connection.execute(query.replace("%", "%%").replace("?", "%s"), given).fetchall()
