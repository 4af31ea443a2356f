"""How much of the machine a command may take."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

MEMORY = 2 * 1024**3
FILE_SIZE = 256 * 1024**2
OPEN_FILES = 512
SLOT_PROCESSES = 128
EXTRA_PROCESSES = 256
UNKNOWN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Rlimits. `processes` counts all of the uid's processes, not only the command's (M12f of the
    measurements).
    """

    processes: int
    cpu: int
    memory: int = MEMORY
    file_size: int = FILE_SIZE
    open_files: int = OPEN_FILES

    def prlimit(self) -> list[str]:
        return [
            "prlimit",
            f"--nproc={self.processes}:{self.processes}",
            f"--nofile={self.open_files}:{self.open_files}",
            f"--cpu={self.cpu}:{self.cpu}",
            "--core=0:0",
            f"--fsize={self.file_size}:{self.file_size}",
            f"--as={self.memory}:{self.memory}",
        ]


def limits_for(uid: int, *, timeout: float, own: bool) -> Limits:
    """A uid of our own gets a small fixed number of processes; a person's, what runs now and some more."""
    processes = SLOT_PROCESSES if own else threads_of(uid) + EXTRA_PROCESSES
    return Limits(processes=processes, cpu=math.ceil(timeout) + 5)


def threads_of(uid: int) -> int:
    """How many threads the user has now. Where there is no /proc (macOS): UNKNOWN, which is over any hard limit, so
    that the limit is left as it is.
    """
    if not Path("/proc/self/task").exists():
        return UNKNOWN
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.stat().st_uid == uid:
                count += len(os.listdir(entry / "task"))
        except OSError:
            continue
    return count
