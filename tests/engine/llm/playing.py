"""Plays a script through the engine itself, with twins in memory; a command runs once per state of the files."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runs.engine.assemble import Parts, assemble
from runs.engine.events import Event, Item, TurnAnswered, Version, WindowEdited
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.script import Script
from runs.engine.loop import Agent
from runs.engine.memory import ManualClock, MemoryFiles, MemoryHistory
from runs.engine.messages import Author, Kind, Message, Role, text
from runs.engine.middleware.base import Numbers
from runs.engine.policy import Policy, preset
from runs.engine.ports import Cancel, Clock, Execution, Llm, Sandbox

from .asking import llm, stand_in

SECONDS = 60


@dataclass(slots=True)
class Remembering:
    """A sandbox for our own scripts: the same command on the same files is not run twice in one test session."""

    known: dict[tuple[str, str], tuple[int, str, Mapping[str, bytes]]] = field(default_factory=dict)
    name: str = "remembering"

    def available(self) -> str:
        return ""

    def run(
        self, command: str, workspace: Path, *, timeout: float, key: str, cancel: Cancel, **more: Any
    ) -> Execution:
        before = contents(workspace)
        name = (command, digest(before))
        if name not in self.known:
            code, output = shell(command, workspace)
            self.known[name] = (code, output, contents(workspace))
        code, output, after = self.known[name]
        for path in before.keys() - after.keys():
            (workspace / path).unlink(missing_ok=True)
        return Execution(exit_code=code, output=output, omitted=0, total=len(output), status="done", ms=1)


def shell(command: str, workspace: Path) -> tuple[int, str]:
    """The exit code and all output of a command, run by this interpreter where it says python3."""
    command = command.replace("python3", sys.executable)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=workspace,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def contents(workspace: Path) -> dict[str, bytes]:
    files = (
        path for path in sorted(workspace.rglob("*")) if path.is_file() and "__pycache__" not in path.parts
    )
    return {str(path.relative_to(workspace)): path.read_bytes() for path in files}


def digest(files: Mapping[str, bytes]) -> str:
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of a run: its events, its edits by kind, the largest request of all."""

    script: Script
    events: list[Event]
    edits: Counter[str]
    turns: int
    largest: int
    messages: list[Message]
    last_request: str
    workspace: Path


def play(name: str, workspace: Path, sandbox: Remembering, *, policy: str, limit: int) -> Played:
    """Play `name` to its end. The clock stands still but for waits, so nothing depends on how busy the machine is."""
    script = scripts.get(name.partition("+")[0])
    script.make_workspace(workspace)
    standin = stand_in(keep=1)
    connected = llm(standin, name=f"rehearsal/{name}")
    chosen = preset(policy).changed(window={"limit": limit})
    agent, messages = agent_over(
        connected, workspace, sandbox, policy=chosen, goal=script.goal, slug=f"r-{limit}"
    )
    events: list[Event] = []
    for _ in range(3 * script.length):
        events += walked(agent, messages)
        if agent.finished:
            break
    edits = Counter(event.edit.kind for event in events if isinstance(event, WindowEdited))
    largest = max(event.usage.prompt for event in events if isinstance(event, TurnAnswered))
    return Played(
        script=script,
        events=events,
        edits=edits,
        turns=agent.desk.turn,
        largest=largest,
        messages=messages,
        last_request=standin.requests[-1].decode(),
        workspace=workspace,
    )


def agent_over(
    llm: Llm,
    workspace: Path,
    sandbox: Sandbox,
    *,
    policy: Policy,
    goal: str,
    slug: str,
    clock: Clock | None = None,
    cancel: Cancel | None = None,
) -> tuple[Agent, list[Message]]:
    """A fresh run over an llm, and its archive: a list that `walked` adds to."""
    history = MemoryHistory([_goal(goal)])
    agent = assemble(
        Parts(
            slug=slug,
            policy=policy,
            llm=llm,
            version=Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),)),
            messages=list(history.messages),
            workspace=workspace,
            files=MemoryFiles(),
            history=history,
            sandbox=sandbox,
            clock=clock or ManualClock(),
            cancel=cancel or Cancel(),
            numbers=Numbers(message=2, version=2),
        )
    )
    return agent, history.messages


def walked(agent: Agent, messages: list[Message]) -> Iterator[Event]:
    """One turn; what it yields is archived before it goes on."""
    for event in agent.turn():
        _remember(event, messages)
        yield event


def _goal(words: str) -> Message:
    return Message(
        number=1, role=Role.USER, author=Author.PERSON, kind=Kind.GOAL, turn=0, content=(text(words),)
    )


def _remember(event: Event, messages: list[Message]) -> None:
    if isinstance(event, WindowEdited):
        messages.extend(event.edit.added)
    message = getattr(event, "message", None)
    if isinstance(message, Message):
        messages.append(message)
