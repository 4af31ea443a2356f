"""The engine's ports over the archive: the run's past to read and search, and its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, storages

from runs import models
from runs.engine.messages import Message
from runs.engine.ports import Hit

from . import folding, index, windows

AROUND = 2
"""Whole lines before and after a match: FTS5's own snippets cut sentences in halves (measured)."""

MOST_CHARACTERS = 2_000
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class DbHistory:
    """A run's archive as the History port."""

    def __init__(self, run: models.Run) -> None:
        self.run_id = run.pk

    def message(self, number: int) -> Message:
        return windows.one_message(self.run_id, number)

    def of_turn(self, turn: int) -> Sequence[Message]:
        return windows.of_turns(self.run_id, turn, turn)

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """The k best messages, each as the lines around what matched."""
        places = index.find(query, run_id=self.run_id, limit=k)
        found = {
            message.number: message for message in windows.messages(self.run_id, [p.number for p in places])
        }
        return [
            self._hit(found[place.number], place.score, query) for place in places if place.number in found
        ]

    def _hit(self, message: Message, score: float, query: str) -> Hit:
        text = excerpt(index.text_of(message.content), query)
        return Hit(turn=message.turn, message=message.number, kind=message.kind.value, text=text, score=score)


class DiskFiles:
    """A folder as the RunFiles port. Names are plain, with at most one folder before them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        """All of it or nothing: a reader never sees half a file."""
        target = self.path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        half = target.with_name(f".{target.name}.half")
        half.write_text(text, encoding="utf-8", newline="")
        os.replace(half, target)

    def read(self, name: str) -> str | None:
        target = self.path(name)
        if not target.is_file() or target.is_symlink():
            return None
        with target.open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read()

    def names(self) -> Sequence[str]:
        files = (path for path in self.folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        return sorted(path.relative_to(self.folder).as_posix() for path in files)

    def path(self, name: str) -> Path:
        """Where a name lies. Raises ValueError for one that could lead out of the folder."""
        return self.folder.joinpath(*plain(name).split("/"))


class StoredFiles:
    """A folder of a Django storage as the RunFiles port, for workers on machines that share no disk."""

    def __init__(self, storage: Storage, folder: str) -> None:
        self.storage = storage
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        """In place of what was there; whole or not at all is the storage's promise."""
        target = self._name(name)
        if self.storage.exists(target):
            self.storage.delete(target)
        self.storage.save(target, ContentFile(text.encode()))

    def read(self, name: str) -> str | None:
        target = self._name(name)
        if not self.storage.exists(target):
            return None
        with self.storage.open(target, "rb") as file:
            return bytes(file.read()).decode("utf-8", "replace")

    def names(self) -> Sequence[str]:
        return sorted(self._below(""))

    def _below(self, folder: str) -> Iterator[str]:
        try:
            folders, files = self.storage.listdir(f"{self.folder}/{folder}")
        except FileNotFoundError:
            return
        yield from (f"{folder}{name}" for name in files if not name.startswith("."))
        for inner in () if folder else folders:
            yield from self._below(f"{inner}/")

    def _name(self, name: str) -> str:
        return f"{self.folder}/{plain(name)}"


def plain(name: str) -> str:
    """A name that leads nowhere else: raises ValueError for one that could lead out of the folder."""
    parts = name.split("/")
    if len(parts) > 2 or not all(SAFE.fullmatch(part) for part in parts):
        raise ValueError(
            f"{name!r} is no name of a run's file: use letters, digits, dot, dash and underscore."
        )
    return name


def files_of(slug: str) -> DiskFiles | StoredFiles:
    """The files of a run, outside its workspace: in the storage "runs" of Django's STORAGES."""
    storage = storages["runs"]
    if isinstance(storage, FileSystemStorage):
        return DiskFiles(Path(storage.path(slug)))
    return StoredFiles(storage, slug)


def spool_of(slug: str) -> Path:
    """Where outcomes of commands are written as they end: always on the disk of the machine they run on."""
    return Path(settings.AGENTDASH_HOME) / "runs" / slug / "exec"


def excerpt(text: str, query: str, most: int = MOST_CHARACTERS) -> str:
    """The lines that hold most of a query's words, whole, with two around each; "…" stands for a gap."""
    lines = text.splitlines()
    wanted = folding.tokens(query)
    weights = {number: len(wanted & folding.tokens(line)) for number, line in enumerate(lines)}
    best = sorted((number for number in weights if weights[number]), key=lambda number: -weights[number])
    shown: set[int] = set()
    for hit in best or [0]:
        shown |= {near for near in range(hit - AROUND, hit + AROUND + 1) if 0 <= near < len(lines)}
        if sum(len(lines[number]) for number in shown) > most:
            break
    return "\n".join(_with_gaps(lines, sorted(shown)))


def _with_gaps(lines: Sequence[str], shown: Sequence[int]) -> Iterator[str]:
    for before, number in zip([-1, *shown], shown, strict=False):
        if number != before + 1:
            yield "…"
        yield lines[number]
