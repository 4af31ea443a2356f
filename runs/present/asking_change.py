"""What a call would change of the file that it names, held against the file as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.engine.tools.beneath import Missing, PathTrouble, root
from runs.engine.tools.edits import EditFile, NoSingleMatch, edited

from .diff_text import AROUND, MAX_LINES, Line, Side, diff

LONGEST = 40_000
"""Characters of a comparison that is shown."""

ELSEWHERE = "The workspace is not on this machine, so the file cannot be compared here."
NEW = "A new file: nothing is there now."
SAME = "The file holds exactly this already: nothing would change."
ENDS = "Line ends change"
TOO_LONG = "{gone:,} lines become {came:,}: too much to compare here, so all of what is written is shown."
NOT_TEXT = "What is there now is no text."


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`lines`: the changed lines, each with what stands around it; none where `note` says why. `first`: the line of
    the file that the first of them is, from 1. `wrong`: the call would fail as it is, and `note` says how."""

    path: str
    lines: tuple[Line, ...] = ()
    first: int = 1
    note: str = ""
    wrong: bool = False

    @property
    def came(self) -> int:
        return sum(line.side is Side.NEW for line in self.lines)

    @property
    def gone(self) -> int:
        return sum(line.side is Side.GONE for line in self.lines)


def change(workspace: Path, name: str, given: Mapping[str, Any]) -> Change | None:
    """None for a call that changes no file, and for an input that its tool would refuse."""
    path = given.get("path")
    wanted = {"write_file": ("content",), "edit_file": ("old", "new")}.get(name, ())
    if not wanted or not all(isinstance(given.get(key), str) for key in ("path", *wanted)):
        return None
    if not workspace.is_dir():
        return Change(path=str(path), note=ELSEWHERE)
    try:
        before = _read(workspace, str(path))
        after = str(given["content"]).encode() if name == "write_file" else _edited(before, given)
    except (PathTrouble, NoSingleMatch) as trouble:
        return Change(path=str(path), note=f"As it is, this call would fail: {trouble}", wrong=True)
    if before is None:
        return Change(path=str(path), note=NEW)
    return _compared(str(path), before, after)


def _read(workspace: Path, path: str) -> bytes | None:
    """None where nothing is. Raises PathTrouble for everything that is no file of the workspace."""
    try:
        with root(workspace) as beneath:
            return beneath.read(path)
    except Missing:
        return None


def _edited(before: bytes | None, given: Mapping[str, Any]) -> bytes:
    if before is None:
        raise Missing(f"there is no `{given['path']}`.")
    return edited(before, EditFile.Input(path=given["path"], old=given["old"], new=given["new"]))[0]


def _compared(path: str, before: bytes, after: bytes) -> Change:
    if before == after:
        return Change(path=path, note=SAME)
    try:
        old, new = before.decode().splitlines(), after.decode().splitlines()
    except UnicodeDecodeError:
        return Change(path=path, note=NOT_TEXT)
    start, gone, came = _middle(old, new)
    if max(len(gone), len(came)) > MAX_LINES or sum(map(len, (*gone, *came))) > LONGEST:
        return Change(path=path, note=TOO_LONG.format(gone=len(gone), came=len(came)))
    lines = tuple(diff("\n".join(gone), "\n".join(came))) if old != new else ()
    return Change(path=path, lines=lines, first=start + 1, note=_ends(before, after, bool(lines)))


def _ends(before: bytes, after: bytes, among: bool) -> str:
    """What a comparison of lines does not show."""
    crlf = b"\r\n"
    if (crlf in before) != (crlf in after):
        return f"{ENDS}: {'CR LF to LF' if crlf in before else 'LF to CR LF'}."
    return "" if among else f"{ENDS}, and nothing else."


def _middle(old: Sequence[str], new: Sequence[str]) -> tuple[int, Sequence[str], Sequence[str]]:
    """Where the difference begins, and both sides of it, with what stands around."""
    start, end = _alike(old, new), _alike(old[::-1], new[::-1])
    end = min(end, min(len(old), len(new)) - start)
    start, end = max(0, start - AROUND), max(0, end - AROUND)
    return start, old[start : len(old) - end], new[start : len(new) - end]


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    pairs = zip(left, right, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))
