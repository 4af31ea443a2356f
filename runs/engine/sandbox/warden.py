"""Watches over one plain command: a program of its own (`python -I -S warden.py LIMITS COMMAND`), standard
library only.

It becomes the reaper of every process below it, so that children which left their group and session (setsid,
double fork) come back to it and can be killed. Its standard input is held by the worker: "t" asks all to end,
the end of the pipe (also by the worker's death) kills all. LIMITS is JSON: [[resource name, value], …].
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
TICK = 0.02


def become_reaper() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start(limits: list[list[object]], command: str) -> int:
    """The process of the command, in a session of its own."""
    pid = os.fork()
    if pid == 0:
        become(limits, command)
    return pid


def become(limits: list[list[object]], command: str) -> NoReturn:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, value in limits:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, str(name)), (int(str(value)), int(str(value))))
    os.execv("/bin/bash", ["/bin/bash", "-c", command])


def below(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as listing:
                found += [int(child) for child in listing.read().split()]
    for child in list(found):
        found += below(child)
    return found


def send(main: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(main, number)
    for pid in below(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def reap(main: int, code: int | None) -> tuple[int | None, bool]:
    """(exit code of the main process or None, whether anybody is left)."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return code, True
            if pid == main:
                code = os.waitstatus_to_exitcode(status)
    return code, False


def watch(main: int) -> int:
    """Until the main process ends or the worker lets go; then nobody stays alive."""
    code: int | None = None
    while code is None:
        code, _ = reap(main, code)
        if code is None and select.select([0], [], [], TICK)[0]:
            if os.read(0, 1) != b"t":
                break
            send(main, signal.SIGTERM)
    anybody = True
    while anybody:
        send(main, signal.SIGKILL)
        code, anybody = reap(main, code)
        if anybody:
            select.select([], [], [], TICK / 4)
    return 137 if code is None else code


def main(arguments: list[str]) -> int:
    become_reaper()
    code = watch(start(json.loads(arguments[0]), arguments[1]))
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
