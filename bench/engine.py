"""The engine alone: a real agent with real tools; archive, files and commands are the twins in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from runs.engine import tokens
from runs.engine.assemble import Parts, assemble
from runs.engine.errors import EngineError
from runs.engine.events import (
    CompactionFailed,
    Event,
    Item,
    NoticeGiven,
    TurnAnswered,
    TurnClosed,
    TurnLost,
    Usage,
    Version,
    WindowEdited,
)
from runs.engine.llm import claude
from runs.engine.llm.connect import capability
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.transport import InProcess
from runs.engine.loop import Agent
from runs.engine.memory import MemoryFiles, MemoryHistory, SystemClock
from runs.engine.messages import Author, Kind, Message, Role, text
from runs.engine.middleware.base import Numbers
from runs.engine.policy import preset
from runs.engine.ports import Cancel
from runs.engine.sandbox.none import Off

from .job import LIMIT, Job, Result
from .meter import Metered, rss_mb
from .reach import reach

NO_VALVES = {"turns": 0, "usd": 0.0}


@dataclass(slots=True)
class Account:
    """What the events say the run came to; the messages they carry are its archive."""

    history: MemoryHistory
    usage: Usage = Usage()
    edits: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    closed: int = 0
    longest: int = 0

    def take(self, event: Event) -> None:
        match event:
            case TurnAnswered():
                self.usage += event.usage
                self.history.messages.append(event.message)
            case TurnClosed():
                self.closed += 1
                self.longest = max(self.longest, event.window)
                self.history.messages += [event.message] if event.message else []
            case NoticeGiven():
                self.history.messages.append(event.message)
            case WindowEdited():
                self.usage += event.edit.usage
                self.edits[event.edit.kind] = self.edits.get(event.edit.kind, 0) + 1
                self.history.messages += event.edit.added
            case CompactionFailed():
                self.usage += event.usage
                self.failed += 1
            case TurnLost():
                self.usage += event.usage


def run(job: Job, folder: Path) -> Result:
    """The job in an empty folder."""
    meter = Metered()
    scripts.get(f"job-{job.turns}").make_workspace(folder)
    account = Account(MemoryHistory())
    client = claude.make_client(base_url="http://rehearsal", transport=InProcess(meter))
    agent = agent_of(job, folder, account, client)
    meter.rss_before = rss_mb()
    state = "done"
    try:
        while not agent.finished:
            for event in agent.turn():
                account.take(event)
    except EngineError as error:
        state = f"{type(error).__name__}: {error}"
    meter.clocks.mark()
    cpu, wall = meter.clocks.per_turn()
    return Result(
        job=job,
        turns=account.closed,
        state=state,
        cpu_ms=cpu,
        wall_ms=wall,
        rss_before=meter.rss_before,
        rss_peak=rss_mb(),
        usage=account.usage,
        rewritten=meter.books.rewritten,
        window_max=account.longest,
        clearings=account.edits.get("clear_results", 0),
        compactions=account.edits.get("compact", 0),
        failed=account.failed,
        reach=reach(job.turns, meter.last, agent),
    )


def agent_of(job: Job, folder: Path, account: Account, client: claude.Client, *, limit: int = LIMIT) -> Agent:
    """The agent that does the job in `folder`; its llm is behind `client`, its window has `limit` tokens."""
    goal = _goal(scripts.get(f"job-{job.turns}").goal)
    account.history.messages.append(goal)
    known = capability(job.llm)
    return assemble(
        Parts(
            slug="r-bench",
            policy=preset(job.policy).changed(window={"limit": limit}, valves=NO_VALVES),
            llm=claude.Claude(replace(known, context=limit + known.max_output), client),
            version=Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),)),
            messages=(goal,),
            workspace=folder,
            files=MemoryFiles(),
            history=account.history,
            sandbox=Off(why="the job runs no commands"),
            clock=SystemClock(),
            cancel=Cancel(),
            numbers=Numbers(message=2, version=2),
        )
    )


def _goal(words: str) -> Message:
    content = (text(words),)
    return Message(
        number=1,
        role=Role.USER,
        author=Author.PERSON,
        kind=Kind.GOAL,
        turn=0,
        content=content,
        tokens=tokens.of_content(content),
    )
