"""How much a workspace that agentdash made may hold. Over it a command can still delete, but not write."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 1024**3
MOST_ENTRIES = 200_000
OVER = "The workspace holds over 1 GiB or 200,000 files: nothing can be written until something is deleted."
READ_ONLY = 'trap "" XFSZ; ulimit -f 0; exec /bin/bash -c "$0"'
"""Runs the command after it, whose writes then fail as on a full disk; without the trap the shell itself would die."""


def is_over(workspace: Path, *, most: int = MOST_BYTES, entries: int = MOST_ENTRIES) -> bool:
    """True as soon as the walk has seen too much; links are counted, never followed."""
    size = seen = 0
    for _, folders, files, descriptor in os.fwalk(workspace, follow_symlinks=False):
        for name in (*folders, *files):
            try:
                size += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * 512
            except OSError:
                continue
            seen += 1
            if size > most or seen > entries:
                return True
    return False
