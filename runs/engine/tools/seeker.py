"""Searches files for a pattern: a program of its own, standard library only.

`python -I -S seeker.py DESCRIPTOR ["part", …] PATTERN MOST` with the workspace's open descriptor. A pattern
can take for ever and holds the interpreter's lock while it does; in a process of its own it can be killed. It
follows no link and opens only regular files. Prints `path:line:text`; the last line is JSON: {"matches",
"files", "skipped"}.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterator

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
FILE_CAP = 4 * 1024 * 1024
LINE_CAP = 300
PASSED_BY = {".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache"}


def descend(base: int, parts: list[str]) -> tuple[int, str]:
    """(folder, name): the folder that holds the last part, or the folder itself and ''."""
    here = os.open(".", FOLDER, dir_fd=base)
    for number, part in enumerate(parts, 1):
        if number == len(parts) and not stat.S_ISDIR(
            os.stat(part, dir_fd=here, follow_symlinks=False).st_mode
        ):
            return here, part
        here = os.open(part, FOLDER, dir_fd=here)
    return here, ""


def files(base: int, parts: list[str]) -> Iterator[tuple[str, int, str]]:
    """(path to show, folder, name) of every file, sorted."""
    folder, name = descend(base, parts)
    prefix = "/".join(parts)
    if name:
        yield prefix, folder, name
        return
    for where, folders, names, descriptor in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
        folders[:] = sorted(set(folders) - PASSED_BY)
        for each in sorted(names):
            yield os.path.normpath(os.path.join(prefix, where, each)), descriptor, each


def text_of(folder: int, name: str) -> str | None:
    """The text of a regular file that is not binary and not huge, else None."""
    descriptor = os.open(name, READ, dir_fd=folder)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > FILE_CAP:
            return None
        data = file.read(FILE_CAP)
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")


def shorten(line: str, at: int) -> str:
    if len(line) <= LINE_CAP:
        return line
    start = max(0, min(at - LINE_CAP // 3, len(line) - LINE_CAP))
    end = start + LINE_CAP
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def search(base: int, parts: list[str], pattern: re.Pattern[str], most: int) -> dict[str, int]:
    matches, found_in, skipped = 0, 0, 0
    for path, folder, name in files(base, parts):
        text = None
        with contextlib.suppress(OSError):
            text = text_of(folder, name)
        if text is None:
            skipped += 1
            continue
        before = matches
        for number, line in enumerate(text.split("\n"), 1):
            found = pattern.search(line)
            if found:
                matches += 1
                if matches <= most:
                    sys.stdout.write(f"{path}:{number}:{shorten(line, found.start())}\n")
        found_in += matches > before
    return {"matches": matches, "files": found_in, "skipped": skipped}


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # a text stream, as for every script
    counts = search(int(arguments[0]), json.loads(arguments[1]), re.compile(arguments[2]), int(arguments[3]))
    sys.stdout.write(json.dumps(counts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
