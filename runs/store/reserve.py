"""A file that takes room while there is some, so that a full disk still leaves room for saying so.

Only where the database is a file beside it: a server's disk is not ours to keep.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

BYTES = 2 * 1024 * 1024
"""Enough for a few commits: a page of each table and index, in the write-ahead log."""


def _path() -> Path:
    return Path(settings.AGENTDASH_HOME) / "reserve"


def keep() -> None:
    """Take the room, unless it is taken; where there is none, do without."""
    path = _path()
    if connection.vendor != "sqlite" or path.exists():
        return
    try:
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, BYTES)
    except (OSError, AttributeError):
        path.unlink(missing_ok=True)


def give() -> None:
    """Free the room: the disk is full, and a last thing must be written."""
    _path().unlink(missing_ok=True)
