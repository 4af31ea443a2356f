"""Runs one process to its end, its time-out or its cancellation, and leaves nothing behind.

How a tree of processes is asked to go and is killed differs by backend: each passes its `Stop`.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from runs.engine.ports import Cancel, Execution
from runs.engine.spool import Spool

from .output import CAP, Collector

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL (reliability.md §3e)."""

PIECE = 65_536


class Stop(Protocol):
    def ask(self, process: subprocess.Popen[bytes]) -> None:
        """Ask the whole tree to end (SIGTERM)."""

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the whole tree now. Returns when `process` itself is about to be dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How the process starts. `env` is its whole environment; `held` gives it a pipe as standard input."""

    argv: Sequence[str]
    env: Mapping[str, str]
    stop: Stop
    cwd: Path | None = None
    fds: Sequence[int] = ()
    held: bool = False


@dataclass(slots=True)
class _Watch:
    """Wakes the one who waits: the process ended, too much was printed, or somebody cancelled."""

    process: subprocess.Popen[bytes]
    collector: Collector
    wake: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        """Standard output and error come through one pipe, in the order in which they were written."""
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            while piece := pipe.read1(PIECE):  # type: ignore[attr-defined]  # a buffered reader: Popen made it
                self.collector.feed(piece)
                if self.collector.full:
                    self.wake.set()
                    return

    def wait(self) -> None:
        self.process.wait()
        self.ended.set()
        self.wake.set()


def execute(launch: Launch, *, timeout: float, key: str, cancel: Cancel, spool: Path | None) -> Execution:
    """Run it and say how it ended. The outcome is in the spool before this returns."""
    place = Spool(spool) if spool is not None else None
    collector = Collector(place.start(key) if place else None)
    began = time.monotonic()
    process = _start(launch)
    try:
        status, reason = _attend(process, launch.stop, collector, timeout=timeout, cancel=cancel)
    finally:
        collector.close()
    execution = Execution(
        exit_code=_exit_code(process.returncode),
        output=collector.text(),
        omitted=collector.omitted,
        total=collector.total,
        status=status,
        ms=int((time.monotonic() - began) * 1000),
        spill=collector.spill,
        reason=reason,
    )
    if place:
        place.finish(key, execution)
    return execution


def _start(launch: Launch) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(launch.argv),
        env=dict(launch.env),
        cwd=launch.cwd,
        pass_fds=tuple(launch.fds),
        stdin=subprocess.PIPE if launch.held else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _attend(
    process: subprocess.Popen[bytes], stop: Stop, collector: Collector, *, timeout: float, cancel: Cancel
) -> tuple[str, str]:
    """Wait for whichever comes first; afterwards the process is dead and its output read."""
    watch = _Watch(process, collector)
    threads = [threading.Thread(target=target, daemon=True) for target in (watch.read, watch.wait)]
    for thread in threads:
        thread.start()
    forget = cancel.on_cancel(watch.wake.set)
    try:
        watch.wake.wait(timeout)
        status, reason = _verdict(watch, cancel, timeout)
        if status == "timeout":
            stop.ask(process)
            watch.ended.wait(GRACE)
    finally:
        forget()
        stop.kill(process)
        for thread in threads:
            thread.join(GRACE)
        if process.stdin is not None:
            process.stdin.close()
    return status, reason


def _verdict(watch: _Watch, cancel: Cancel, timeout: float) -> tuple[str, str]:
    if watch.collector.full:
        return "killed", f"it printed more than {CAP // 1024 // 1024} MiB"
    if watch.ended.is_set():
        return "done", ""
    if cancel.reason:
        return "killed", cancel.reason
    return "timeout", f"it ran longer than {timeout:g} s"


def _exit_code(returncode: int | None) -> int:
    """As a shell says it: 128 + the signal for a process that was killed."""
    if returncode is None:
        return 137
    return 128 - returncode if returncode < 0 else returncode
