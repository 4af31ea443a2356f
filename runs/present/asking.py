"""The card of a call that waits for a person: exactly what would run, and what may be said of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from runs.engine.llm.connect import is_rehearsal
from runs.engine.messages import Block, calls_of
from runs.engine.middleware.approval import NO_SANDBOX
from runs.engine.sandbox import Ask as Unsandboxed
from runs.engine.sandbox import choose
from runs.models import Run
from runs.store import approvals, page_reads
from runs.store.approvals import Question

from .asking_change import Change, change

LONG = 40_000
"""Characters of one part that are shown; what is longer is cut and says so. A longer input is edited elsewhere."""

WRITTEN = {"run_command": "command", "write_file": "content", "edit_file": "new"}
"""The one argument of a tool that a person rewrites as text. All other inputs are edited as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of what runs. `css`: "", "add" or "del"; `more`: characters that are not shown."""

    name: str
    text: str
    css: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`field` is the argument that `draft` holds, "" where the draft is the whole input as JSON; None: too long to be
    edited here. `whole` is the input as JSON, on which an edited field is laid. `change`: what becomes of a file."""

    call: str
    name: str
    turn: int
    input: Mapping[str, Any]
    input_sha256: str
    about: str
    why: str
    parts: tuple[Part, ...]
    field: str
    draft: str | None
    whole: str
    started: datetime | None = None
    change: Change | None = None

    @property
    def unsandboxed(self) -> bool:
        return self.why == NO_SANDBOX

    @property
    def unsure(self) -> bool:
        return self.about == "unknown_outcome"

    @property
    def shown(self) -> tuple[Part, ...]:
        """The arguments that the change of a file does not show already."""
        if self.change is None:
            return self.parts
        return () if self.change.lines else tuple(part for part in self.parts if part.name != "path")

    def json(self) -> dict[str, Any]:
        """What a script needs to answer: the same as the card shows."""
        asked = {"call": self.call, "tool": self.name, "turn": self.turn, "input": dict(self.input)}
        return asked | {"input_sha256": self.input_sha256, "about": self.about, "why": self.why}


def asks(run: Run) -> Ask | None:
    """What the run waits for, None when it waits for no word on a call."""
    question = approvals.question(run)
    answer = page_reads.answer_of_turn(run, question.call.turn) if question else None
    if question is None or answer is None:
        return None
    blocks = (block for block in calls_of(answer.content) if block["id"] == question.call.tool_use_id)
    return next((ask(question, block) for block in blocks), None)


def ask(question: Question, block: Block) -> Ask:
    """The card of a call; `block` is its tool_use."""
    given: Mapping[str, Any] = block.get("input") or {}
    name, whole = str(block["name"]), json.dumps(given, ensure_ascii=False, indent=2)
    field = WRITTEN.get(name, "")
    if not isinstance(given.get(field), str):
        field = ""
    draft, started = str(given[field]) if field else whole, question.call.started_at
    return Ask(
        call=question.call.tool_use_id,
        name=name,
        turn=question.call.turn,
        input=given,
        input_sha256=question.input_sha256,
        about=question.about,
        why=question.why,
        parts=tuple(_parts(name, given)),
        field=field,
        draft=draft if len(whole) <= LONG else None,
        whole=whole,
        started=started,
        change=None if started else change(Path(question.call.run.workspace), name, given),
    )


def no_sandbox(run: Run) -> bool:
    """Whether this run's commands would run without a wall, each after a person allowed it."""
    asking = settings.AGENTDASH.unsandboxed == Unsandboxed.NAME
    return asking and not is_rehearsal(run.llm) and _is_open()


@cache
def _is_open() -> bool:
    """Asked once a process: a worker of this machine finds the same."""
    found = choose(rehearsal=False, python=Path(sys.executable), unsandboxed=Unsandboxed.NAME)
    return found.name == Unsandboxed.NAME


def _parts(name: str, given: Mapping[str, Any]) -> Iterator[Part]:
    """The command, the diff or the content first; every other argument by its name: nothing that counts is left out."""
    signs = {"write_file": {"content": "add"}, "edit_file": {"old": "del", "new": "add"}}.get(name, {})
    for key in _in_order(given, signs):
        value = given[key]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        more = max(0, len(text) - LONG)
        yield Part(name=key, text=text[:LONG], css=signs.get(key, ""), more=more)


def _in_order(given: Mapping[str, Any], signs: Mapping[str, str]) -> list[str]:
    first = ["path", "command", *signs]
    return [key for key in first if key in given] + [key for key in given if key not in first]
