"""Which rows there are, and one of them done: a clerk, a workspace, a child process, the figures."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.job import cost_m
from bench.reach import texts_of
from runs.engine.llm.rehearsal.scripts import job

from .clerk import Clerk, Work
from .server import Office

PEERS = Path(".venv-peers/bin/python")
MARK = 0.85
"""Where those compact that must be told: most harnesses' own default, of the window."""

MOST_S = 400
TOO_LONG = "too long"
OUTPUT = 16_000
"""What our limit leaves for the answer: it is of a request, where the others are told the whole window."""

OURS = ("engine", "path")
ALL = (*OURS, "runner", "pydantic_ai", "deepagents", "inspect_ai")
FAILING = ("summary_empty", "summary_refusal", "summary_cut", "summary_400", "summary_529")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One harness with one job. `who` is the module with_<who>."""

    who: str
    turns: int = 300
    width: int = 1
    wide: int = 0
    fault: str = ""
    context: int = 100_000

    def work(self) -> Work:
        return Work(
            turns=self.turns,
            width=self.width,
            wide=self.wide,
            tool="read_file" if self.who in OURS else "read_piece",
            fault=self.fault,
            context=self.context + (OUTPUT if self.who in OURS else 0),
        )


def done(row: Row, office: Office) -> dict[str, Any]:
    """The figures of one row."""
    clerk, url = office.open(row.work())
    with tempfile.TemporaryDirectory(prefix="agentdash-bench-") as folder:
        _lay_out(row, Path(folder))
        told = _child(row, url, folder)
    return asdict(row) | told | _figures(row, clerk, told)


def _lay_out(row: Row, folder: Path) -> None:
    """The pieces; for the others with the line above them that our own read_file writes, so that all read the same."""
    pieces = row.turns * row.width
    job.script(pieces).make_workspace(folder)
    if row.who in OURS:
        return
    for number in range(1, pieces + 1):
        path = folder / job.name_of(number)
        text = path.read_text(encoding="utf-8")
        head = f"{job.name_of(number)}: lines 1-{job.LINES} of {job.LINES}; the end"
        path.write_text(f"{head}\n{text}", encoding="utf-8")


def _child(row: Row, url: str, folder: str) -> dict[str, Any]:
    errand = {
        "url": url,
        "folder": folder,
        "turns": row.turns,
        "width": row.width,
        "goal": job.script(row.turns * row.width).goal,
        "context": row.context,
        "mark": int(MARK * row.context),
    }
    python = sys.executable if row.who in OURS else str(PEERS.absolute())
    asked = [python, "-m", f"bench.peers.with_{row.who}", json.dumps(errand)]
    try:
        ran = subprocess.run(asked, capture_output=True, timeout=MOST_S, check=False)
    except subprocess.TimeoutExpired:
        return {"state": f"stopped after {MOST_S} s"}
    lines = [line for line in ran.stdout.decode().splitlines() if line.startswith("{")]
    if not lines:
        return {"state": f"no answer: {ran.stderr.decode()[-300:]}"}
    told: dict[str, Any] = json.loads(lines[-1])
    return told


def _figures(row: Row, clerk: Clerk, told: Mapping[str, Any]) -> dict[str, Any]:
    books, planted = clerk.books, job.facts(row.turns * row.width)
    reached = [fact for fact in planted if fact.turn <= books.turn * row.width]
    sight = "\n".join(texts_of(list(books.last)))
    seen = {fact.text for fact in reached if fact.text in sight}
    again = (
        seen
        | set(told.get("recalled", ()))
        | _grepped(told.get("files", ""), [fact.text for fact in reached])
    )
    usage = books.usage
    return {
        "turn": books.turn,
        "requests": books.answered + sum(books.refused.values()),
        "counted": clerk.counted,
        "summaries": books.summaries,
        "bad_summaries": books.bad_summaries,
        "refused": dict(books.refused),
        "bad_requests": sum(
            n for what, n in books.refused.items() if what.startswith("400") and "too long" not in what
        ),
        "too_long": sum(n for what, n in books.refused.items() if "too long" in what),
        "longest": books.longest,
        "cost_m": round(cost_m(usage), 3),
        "prompt_m": round(usage.prompt / 1e6, 3),
        "cache_read": round(usage.cache_read / max(1, usage.prompt), 4),
        "planted": len(reached),
        "keyed": sum(fact.keyed for fact in reached),
        "seen": len(seen),
        "seen_keyed": sum(fact.keyed for fact in reached if fact.text in seen),
        "reach": len(again & {fact.text for fact in reached}),
        "recalled": None,
    }


def _grepped(folder: str, texts: list[str]) -> set[str]:
    """What one grep of a harness's own files brings back."""
    if not folder:
        return set()
    whole = "\n".join(
        path.read_text("utf-8", "replace") for path in Path(folder).rglob("*") if path.is_file()
    )
    return {text for text in texts if text in whole}
