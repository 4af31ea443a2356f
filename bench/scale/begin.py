"""Starts the runs, as fast as the product takes them: `python -m bench.scale.begin COUNT OUT`. OUT gets their slugs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentdash.cli import ground
from runs.engine.llm.rehearsal.scripts import job

from .llm import FILES

LLM = "claude-haiku-4-5"
"""A name whose window and price the product knows; what answers is the stand-in."""


def begin(count: int) -> list[str]:
    from django.conf import settings

    from agentdash.door import local
    from runs import control

    workspace = Path(settings.AGENTDASH_HOME) / "workspaces" / "shared"
    job.script(FILES).make_workspace(workspace)
    asked = control.Start(
        goal="Wait.",
        llm=LLM,
        workspace=str(workspace),
        limit=100_000,
        max_turns=100_000,
        max_usd=1000.0,
    )
    return [control.start(local(), asked).slug for _ in range(count)]


if __name__ == "__main__":
    ground.tables()
    made = begin(int(sys.argv[1]))
    Path(sys.argv[2]).write_text(json.dumps(made), encoding="utf-8")
