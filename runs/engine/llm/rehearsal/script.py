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
    files: Path | None = None

    def make_workspace(self, path: Path) -> None:
        """Lay the script's files out in `path`, which may exist. Files already there are left alone.

        They are shipped with `.txt` behind their names, so that no tool takes them for code of this project.
        """
        path.mkdir(parents=True, exist_ok=True)
        for source in sorted(self.files.rglob("*.txt")) if self.files else ():
            target = path / source.relative_to(self.files or path).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copyfile(source, target)


def from_steps(
    *, name: str, title: str, goal: str, steps: Sequence[Step], closing: Step, files: Path | None = None
) -> Script:
    def step(turn: int) -> Step:
        return steps[turn - 1] if turn <= len(steps) else closing

    return Script(name=name, title=title, goal=goal, length=len(steps), step=step, files=files)
