"""How much a workspace that agentdash made may hold. Over it a command can still delete, but not write."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 1024**3
MOST_ENTRIES = 200_000
OVER = "The workspace holds more than 1 GiB or 200,000 files, so nothing can be written in it until something is deleted."


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
