"""What processes cost: CPU seconds and memory, read from /proc. A group is processes with all their children."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
Groups = Mapping[str, Sequence[int]]
"""Name of a group → pids of its first processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Bytes of memory and number of threads by group, and how many connections the database has."""

    pss: Mapping[str, int]
    rss: Mapping[str, int]
    threads: Mapping[str, int]
    connections: int


def cpu_s(groups: Groups) -> dict[str, float]:
    """CPU seconds so far, of children that have ended too."""
    tree = _children()
    return {name: sum(_cpu(pid, tree) for pid in pids) for name, pids in groups.items()}


def sample(groups: Groups, connections: int = 0) -> Sample:
    tree = _children()
    members = {name: [one for pid in pids for one in _family(pid, tree)] for name, pids in groups.items()}
    return Sample(
        pss={name: sum(_rollup(pid, "Pss") for pid in pids) for name, pids in members.items()},
        rss={name: sum(_rollup(pid, "Rss") for pid in pids) for name, pids in members.items()},
        threads={name: sum(_threads(pid) for pid in pids) for name, pids in members.items()},
        connections=connections,
    )


def about() -> dict[str, object]:
    memory = next(_lines(Path("/proc/meminfo")), "").split()
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(int(memory[1]) / 1e6) if memory else None,
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


@dataclass
class Sampler:
    """Samples every few seconds until it is stopped."""

    groups: Groups
    connections: Callable[[], int]
    seconds: float = 5.0
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> Sample:
        """The sample with the most memory in all."""
        self.ended.set()
        self.thread.join(20)
        self.samples.append(sample(self.groups, self.connections()))
        return max(self.samples, key=lambda one: sum(one.pss.values()))

    def _run(self) -> None:
        while not self.ended.wait(self.seconds):
            self.samples.append(sample(self.groups, self.connections()))


def _children() -> dict[int, list[int]]:
    tree: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(int(entry.name))):
            tree.setdefault(int(stat[1]), []).append(int(entry.name))
    return tree


def _family(pid: int, tree: Mapping[int, Sequence[int]]) -> Iterator[int]:
    yield pid
    for child in tree.get(pid, ()):
        yield from _family(child, tree)


def _cpu(pid: int, tree: Mapping[int, Sequence[int]]) -> float:
    """utime, stime, and those of children that were waited for."""
    found = (_stat(one)[11:15] for one in _family(pid, tree))
    return sum(int(ticks) for four in found for ticks in four) / TICK


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; the name before it may hold anything."""
    return next(_lines(Path(f"/proc/{pid}/stat")), "").rpartition(")")[2].split()


def _rollup(pid: int, name: str) -> int:
    for line in _lines(Path(f"/proc/{pid}/smaps_rollup")):
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _threads(pid: int) -> int:
    return next(
        (int(line.split()[1]) for line in _lines(Path(f"/proc/{pid}/status")) if line.startswith("Threads")),
        0,
    )


def _lines(path: Path) -> Iterator[str]:
    """Nothing of a process that has just gone."""
    try:
        yield from path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
