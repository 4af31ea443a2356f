"""The exec spool: what became of a call outlives the worker that made it.

`<run files>/exec/<key>/` holds `started` (written before the command runs), `output` (the whole of it when it
is long) and `exit` (the outcome, written with write, fsync, rename). A worker that finds a call `started`
without a result looks here first.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from .ports import Execution

KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class Spool:
    """The spool of one run: a folder for each call, named by the call's key."""

    folder: Path

    def of(self, key: str) -> Path:
        """The folder of a call. ValueError where the key could leave the spool."""
        if not KEY.fullmatch(key):
            raise ValueError(f"{key!r} cannot name a call.")
        return self.folder / key

    def start(self, key: str) -> Path:
        """Mark that the command is about to run; gives the path its long output goes to."""
        place = self.of(key)
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(place / "started", b"")
        return place / "output"

    def finish(self, key: str, execution: Execution) -> None:
        outcome = {
            "exit_code": execution.exit_code,
            "output": execution.output,
            "omitted": execution.omitted,
            "total": execution.total,
            "status": execution.status,
            "ms": execution.ms,
            "reason": execution.reason,
        }
        _write(self.of(key) / "exit", json.dumps(outcome).encode())

    def started(self, key: str) -> bool:
        return (self.of(key) / "started").exists()

    def outcome(self, key: str) -> Execution | None:
        """How the call really ended, None where its worker did not live to see the end."""
        place = self.of(key)
        try:
            found = json.loads((place / "exit").read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        spill = place / "output"
        return Execution(**found, spill=spill if spill.exists() else None)

    def intend(self, key: str, sha256: str) -> None:
        """Remember what a file will be after an edit, before it is made: a second try can see that it was."""
        place = self.of(key)
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(place / "after", sha256.encode())

    def intended(self, key: str) -> str:
        """The hash that `intend` wrote, '' where there is none."""
        try:
            return (self.of(key) / "after").read_text()
        except (FileNotFoundError, NotADirectoryError):
            return ""


def _write(path: Path, data: bytes) -> None:
    """All or nothing, and on the disk: a half-written outcome would be believed."""
    draft = path.with_name(path.name + ".new")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
