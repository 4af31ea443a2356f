"""Our engine with its default policy; archive and files in memory, tools real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.engine import Account, agent_of
from bench.job import Job
from bench.reach import recalled
from runs.engine.errors import EngineError
from runs.engine.llm import claude
from runs.engine.llm.rehearsal.scripts.job import facts
from runs.engine.memory import MemoryHistory

from .child import Clock, Errand, main


def do(errand: Errand) -> dict[str, Any]:
    pieces = errand.turns * errand.width
    account = Account(MemoryHistory())
    client = claude.make_client(base_url=errand.url)
    job = Job(row="engine", turns=pieces)
    agent = agent_of(job, Path(errand.folder), account, client, limit=errand.context)
    clock, state = Clock(), "done"
    try:
        while not agent.finished:
            clock.mark()
            for event in agent.turn():
                account.take(event)
    except EngineError as error:
        state = f"{type(error).__name__}: {error}"
    found = [fact.text for fact in facts(pieces) if fact.text in recalled(agent, fact)]
    edits = {
        "clearings": account.edits.get("clear_results", 0),
        "compactions": account.edits.get("compact", 0),
    }
    return edits | {"state": state, "recalled": found, "cpu_ms": round(clock.per_mark(), 2)}


if __name__ == "__main__":
    main(do)
