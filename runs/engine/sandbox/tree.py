"""The processes below a process, as far as the system tells (Linux: /proc/<pid>/task/*/children)."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def children(pid: int) -> list[int]:
    """The direct children of a process; [] where it is gone or the system does not say."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for listing in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in listing.read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    """All processes below it, parents before children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal each of them; who is gone already is no trouble."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
