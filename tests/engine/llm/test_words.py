"""A script knows words and calls only: nothing of how much of the conversation is sent, or that any of it goes."""

from __future__ import annotations

import re
from pathlib import Path

from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.script import Step

FOLDER = Path(scripts.__file__).parent
FORBIDDEN = re.compile(
    r"clear|compact|window|limit|context(?!lib|manager)|token budget|summar", re.IGNORECASE
)
MEASURING = FOLDER / "job.py"


def test_no_script_knows_of_the_window() -> None:
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".py", ".txt") and path != MEASURING]
    assert len(files) > 20
    found = [
        (path.name, match[0])
        for path in files
        for match in FORBIDDEN.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_step_says_so_either() -> None:
    for name in scripts.names():
        script = scripts.get(name)
        for turn in range(1, script.length + 2):
            step = script.step(turn)
            assert isinstance(step, Step)
            assert not FORBIDDEN.search(f"{step.says} {step.thinks}"), (name, turn)


def test_every_step_says_something_and_ends_only_at_the_end() -> None:
    for name in ("orders", "hello"):
        script = scripts.get(name)
        steps = [script.step(turn) for turn in range(1, script.length + 1)]
        assert all(step.says.strip() for step in steps)
        assert [turn for turn, step in enumerate(steps, 1) if not step.calls] == [script.length]
