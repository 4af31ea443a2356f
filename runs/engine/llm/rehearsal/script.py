"""What a script is: words and calls, turn by turn. It knows nothing of how the conversation is kept.

Turn n of a run plays step n of its script, always: the number comes with the request. What a step needs to
have in sight and does not find in the request's messages it fetches again, by further calls in the same
turn; so a kill, an undo or a fork need no special case, and forgetting costs calls that everyone can see.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`fact` must stand somewhere in the messages; if not, `by` brings it back."""

    fact: str
    by: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn. `must`: a person cannot talk the agent out of it. Without calls it ends the run.

    `mend` and `mending` replace calls and words when the newest results contain `mends`: the work was
    disturbed on the way here, by a person or by a step that never came to run.
    """

    says: str
    calls: tuple[Call, ...] = ()
    thinks: str = ""
    needs: tuple[Need, ...] = ()
    must: bool = False
    mends: str = ""
    mend: tuple[Call, ...] = ()
    mending: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """`step(turn)` gives the step of a turn, from 1 on; beyond the last one it gives the closing words."""

    name: str
    title: str
    goal: str
    length: int
    step: Callable[[int], Step]
    lay_out: Callable[[Path], None] = lambda path: None

    def make_workspace(self, path: Path) -> None:
        """Lay the script's files out in `path`, which may exist. Files already there are left alone."""
        path.mkdir(parents=True, exist_ok=True)
        self.lay_out(path)


def shipped(files: Path) -> Callable[[Path], None]:
    """Lays out files of the source. They have `.txt` behind their names, so that no tool takes them for our code."""

    def lay_out(path: Path) -> None:
        for source in sorted(files.rglob("*.txt")):
            target = path / source.relative_to(files).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copyfile(source, target)

    return lay_out


def played(steps: Sequence[Step], closing: Step) -> Callable[[int], Step]:
    """A turn's step out of a list, and `closing` for every turn beyond it."""
    return lambda turn: steps[turn - 1] if 1 <= turn <= len(steps) else closing
