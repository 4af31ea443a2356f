"""The house under load: pages, workers and the slow llm as processes, on a database of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.house import ROOT, Process, Scaled
from tests.chaos.servers import Postgres, Redis, free_port
from tests.chaos.viewer import Browser

from .load import Load

LEASE_MS = "30000"
"""The product's own; the tests' are shorter."""

NEVER_S = 300.0


@dataclass(slots=True)
class Ground:
    """Redis and Postgres, for house after house."""

    redis: Redis = field(default_factory=Redis)
    postgres: Postgres = field(default_factory=Postgres)

    def __enter__(self) -> Ground:
        self.postgres.begin()
        self.redis.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.redis.stop()
        self.postgres.end()

    def pids(self) -> dict[str, list[int]]:
        assert self.redis.inner is not None
        first = (self.postgres.folder / "data" / "postmaster.pid").read_text().splitlines()[0]
        return {"redis": [self.redis.inner.pid], "postgres": [int(first)]}


@dataclass(slots=True)
class House:
    """One row's processes. `lines` is what the crowd saw, once it has been sent home."""

    load: Load
    scaled: Scaled
    folder: Path
    groups: dict[str, list[int]] = field(default_factory=dict)
    browser: Browser | None = None
    crowd: Process | None = None

    def begin(self) -> None:
        llm = self._llm()
        workers = [self.scaled.worker(self.load.threads) for _ in range(self.load.workers)]
        web = self.scaled.web()
        self.browser = Browser(self.scaled)
        self.browser.enter(web.output.split("Pages: ", 1)[1].split()[0])
        self.groups |= {"workers": [one.pid for one in workers], "web": [web.pid], "llm": [llm.pid]}

    def _llm(self) -> Process:
        port = free_port()
        args = ("bench.scale.llm", str(port), str(self.load.answer_s), str(self.load.pieces))
        self.scaled.extra |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
        return self.module(*args)

    def module(self, *args: str) -> Process:
        """A module of the bench as a process that stays."""
        printed = self.folder / f"{args[0]}.txt"
        with printed.open("wb") as out:
            inner = subprocess.Popen(
                [sys.executable, "-m", *args], env=self.scaled.environment(), cwd=ROOT, stdout=out, stderr=out
            )
        life = Process(inner, printed)
        self.scaled.lives.append(life)
        return life

    def start_runs(self) -> list[str]:
        """The slugs of the runs, all of them asked for at once."""
        made = self.folder / "runs.json"
        self.module("bench.scale.begin", str(self.load.runs), str(made)).inner.wait(NEVER_S)
        slugs: list[str] = json.loads(made.read_text())
        return slugs

    def watch(self, slugs: Sequence[str]) -> None:
        assert self.browser is not None
        where = (self.browser.address, self.browser.cookie(), str(self.folder / "seen.jsonl"))
        self.crowd = self.module("bench.scale.viewers", *where, *slugs)
        self.groups["viewers"] = [self.crowd.pid]

    def lines(self) -> Iterator[str]:
        """What the crowd saw; it goes home for that."""
        assert self.crowd is not None
        self.crowd.inner.terminate()
        self.crowd.inner.wait(60)
        yield from (self.folder / "seen.jsonl").read_text(encoding="utf-8").splitlines()

    def at_work(self) -> int:
        """Runs whose first turn has begun."""
        return int(self.scaled.one("SELECT count(DISTINCT run_id) FROM runs_turn"))

    def wait_for_all(self) -> None:
        """Raises RuntimeError with the states of the runs when they do not all come to work."""
        pause, end = threading.Event(), time.monotonic() + NEVER_S
        while self.at_work() < self.load.runs:
            pause.wait(0.5)
            if time.monotonic() > end or not self.working():
                raise RuntimeError(
                    f"{self.at_work()} of {self.load.runs} runs are at work: {self.states()[:9]}"
                )

    def working(self) -> bool:
        return bool(self.scaled.rows("SELECT 1 FROM runs_run WHERE state IN ('ready', 'running') LIMIT 1"))

    def states(self) -> list[tuple[object, ...]]:
        return self.scaled.rows("SELECT state, reason, count(*) FROM runs_run GROUP BY 1, 2")


@contextmanager
def house(ground: Ground, load: Load) -> Iterator[House]:
    with tempfile.TemporaryDirectory(prefix="agentdash-scale-") as folder:
        home = Path(folder) / "home"
        scaled = Scaled(home, redis=ground.redis, postgres=ground.postgres)
        scaled.begin()
        scaled.extra["AGENTDASH_LEASE_MS"] = LEASE_MS
        made = House(load=load, scaled=scaled, folder=Path(folder))
        try:
            made.groups |= ground.pids()
            made.begin()
            yield made
        finally:
            scaled.close()
