"""A turn runs inside a Celery task, and a tool inside the toolbox: there is no second path."""

from __future__ import annotations

import re
from pathlib import Path

from .source import ROOT, calls, name, python

EVERYWHERE = ("agentdash", "runs", "tests", "bench")
WORDS = re.compile(r"\b(?:clear(?:s|ed|ing)?|compact\w*|windows?|limits?)\b", re.IGNORECASE)
OWN = ("runs/store/", "tests/runner/", "tests/chaos/lives.py")
THE_TASK = "runs/tasks.py"


def named(path: Path) -> bool:
    return name(path) != name(Path(__file__))


def test_nothing_advances_a_run_but_the_task() -> None:
    """But for the runner's own tests, which try one slice at a time, and for lives that are there to be killed."""
    found = [
        f"{name(path)}:{line} {called}"
        for path in python(*EVERYWHERE)
        for line, called in calls(path)
        if called in ("advance", "runner.advance", "tasks.advance", "slice.advance")
        and name(path) != THE_TASK
        if not name(path).startswith(OWN)
    ]
    assert found == []


def test_no_task_is_run_in_place() -> None:
    texts = {name(path): path.read_text(encoding="utf-8") for path in python(*EVERYWHERE) if named(path)}
    eager = [path for path, text in texts.items() if "always_eager = True" in text or "ALWAYS_EAGER" in text]
    applied = [path for path, text in texts.items() if "advance.apply(" in text or "advance.run(" in text]
    assert eager + applied == []


def test_one_function_decides_that_a_call_may_run() -> None:
    asked = {name(path) for path in python("runs") for _, called in calls(path) if called.endswith("may_run")}
    assert asked == {"runs/engine/loop.py", "runs/engine/intake.py"}


def test_only_the_toolbox_executes_a_tool_and_only_the_turn_asks_it_to() -> None:
    tools = {
        name(path) for path in python("runs") for _, called in calls(path) if called.endswith("tool.run")
    }
    boxes = {
        name(path) for path in python("runs") for _, called in calls(path) if called.endswith("toolbox.run")
    }
    assert (tools, boxes) == ({"runs/engine/tools/toolbox.py"}, {"runs/engine/acting.py"})


def test_only_the_sandbox_starts_a_process() -> None:
    """And the search in files, whose regular expressions run in a process that can be killed."""
    starts = ("subprocess.run", "subprocess.Popen", "os.system", "os.popen", "os.execv", "os.fork")
    found = {
        name(path) for path in python("runs", "agentdash") for _, called in calls(path) if called in starts
    }
    outside = {path for path in found if not path.startswith("runs/engine/sandbox/")}
    assert outside == {"runs/engine/tools/searching.py"}


def test_only_one_file_imports_the_sdk() -> None:
    found = [
        name(path)
        for path in python("runs", "agentdash")
        if "import anthropic" in (text := path.read_text(encoding="utf-8")) or "from anthropic" in text
    ]
    assert found == ["runs/engine/llm/claude.py"]


def test_a_script_of_the_rehearsal_never_knows_when_the_window_is_worked_on() -> None:
    scripts = [path for path in (ROOT / "runs/engine/llm/rehearsal/scripts").rglob("*") if path.is_file()]
    said = {
        name(path): set(WORDS.findall(path.read_text(encoding="utf-8")))
        for path in scripts
        if path.suffix != ".pyc"
    }
    assert {path: sorted(words) for path, words in said.items() if words} == {}
