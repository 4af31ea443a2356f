"""Lists a folder: its tree, breadth first, with sizes, as far as it fits."""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass

MOST = 400
ENTRIES = 20_000
"""How many entries of one folder are looked at: a folder of millions must not hold the worker."""

PASSED_BY = frozenset(
    {".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Lines sorted by path; `left_out` counts entries that did not fit, folders not opened among them."""

    lines: tuple[str, ...]
    left_out: int


def tree_of(descriptor: int, prefix: str = "", most: int = MOST) -> Listing:
    """The tree below an open folder; lines begin with `prefix`. Links are named, never followed."""
    found: dict[str, str] = {}
    left_out = 0
    waiting: deque[str] = deque([""])
    while waiting:
        folder = waiting.popleft()
        for path, line, is_folder in _entries(descriptor, folder):
            if len(found) >= most:
                left_out += 1
                continue
            found[path] = line
            if is_folder:
                waiting.append(path)
    return Listing(lines=tuple(prefix + found[path] for path in sorted(found)), left_out=left_out)


def _entries(base: int, folder: str) -> list[tuple[str, str, bool]]:
    """(path, line to show, whether it is a folder to go into) of one folder, sorted."""
    try:
        descriptor = _beneath(base, folder)
    except OSError:
        return []
    try:
        with os.scandir(descriptor) as entries:
            names = sorted(entry.name for entry, _ in zip(entries, range(ENTRIES), strict=False))
        return [_entry(descriptor, folder, name) for name in names]
    finally:
        os.close(descriptor)


def _entry(descriptor: int, folder: str, name: str) -> tuple[str, str, bool]:
    path = f"{folder}/{name}" if folder else name
    try:
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return path, f"{path} (gone)", False
    if stat.S_ISDIR(found.st_mode):
        return (path, f"{path}/ (not listed)", False) if name in PASSED_BY else (path, f"{path}/", True)
    if stat.S_ISREG(found.st_mode):
        return path, f"{path} ({found.st_size:,} bytes)", False
    if stat.S_ISLNK(found.st_mode):
        return path, f"{path} (link, not followed)", False
    return path, f"{path} (no regular file)", False


def _beneath(base: int, folder: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(".", flags, dir_fd=base)
    for part in folder.split("/") if folder else ():
        try:
            there = os.open(part, flags, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here
