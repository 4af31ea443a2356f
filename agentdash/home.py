"""The data folder (AGENTDASH_HOME): one process at a time drives the runs in it, and the others can see which."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who drives the runs of a home, and where its pages are."""

    pid: int
    address: str


class HomeTaken(Exception):
    """Another process drives the runs of this home. The message names it, and the cure."""

    def __init__(self, home: Path, holder: Holder) -> None:
        super().__init__(
            f"agentdash runs already on {home}, as process {holder.pid} at {holder.address or 'an unknown address'}. "
            f"Use that one, stop it (kill {holder.pid}), or set AGENTDASH_HOME to another folder."
        )
        self.holder = holder


def take(home: Path, address: str) -> TextIO:
    """Take the lock of the home for as long as the returned file is open. Raises HomeTaken."""
    file = _opened(home)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = _read(file)
        file.close()
        raise HomeTaken(home, holder) from None
    file.seek(0)
    file.truncate()
    json.dump({"pid": os.getpid(), "address": address}, file)
    file.flush()
    return file


def holder(home: Path) -> Holder | None:
    """Who holds the lock now; None when nobody drives this home."""
    if not (home / "lock").exists():
        return None
    with _opened(home) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return _read(file)
    return None


def _opened(home: Path) -> TextIO:
    return os.fdopen(
        os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+", encoding="utf-8"
    )


def _read(file: TextIO) -> Holder:
    file.seek(0)
    try:
        said = json.loads(file.read())
        return Holder(pid=int(said["pid"]), address=str(said["address"]))
    except (ValueError, KeyError, TypeError):
        return Holder(pid=0, address="")


def network_file_system(home: Path) -> str:
    """The kind of network file system the home lies on, where SQLite's write-ahead log corrupts; "" for a local one."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    below = [(where, kind) for _, where, kind, *_ in mounts if Path(where) in (home, *home.parents)]
    kind = max(below, key=lambda mount: len(mount[0]), default=("", ""))[1]
    return kind if kind in NETWORK else ""
