"""Compact, clear and words at random moments, on turns of many calls; words that come while a summary is written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .lives import PAUSE, begin, ended, fork, step, walk

# isort: split
from agentdash import door
from runs import control
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.script import Call, Script, Step
from runs.models import Edit, Event, Message, Order, Run, Turn
from runs.store import archive, blobs, windows
from runs.store.verify import verify

TURNS, MOST_CALLS, WORDS = 20, 7, 6
PARTS = "parallel"


def _step(turn: int) -> Step:
    """Up to seven calls at once: some write, some read what was just written, one fails."""
    if turn >= TURNS:
        return Step(says="All parts are written.")
    names = [f"part-{turn}-{number}.txt" for number in range(turn % MOST_CALLS)]
    lines = "\n".join(f"line {number} of turn {turn}" for number in range(30))
    writes = [Call(name="write_file", input={"path": name, "content": lines}) for name in names]
    reads = [Call(name="read_file", input={"path": name}) for name in (*names[:2], f"none-{turn}.txt")]
    return Step(says=f"Part {turn}.", calls=(*writes, *reads), must=True)


def _script() -> Script:
    return Script(name=PARTS, title="Write parts", goal="Write all parts.", length=TURNS, step=_step)


def edits(runs: int) -> tuple[dict[str, Any], list[str]]:
    """A18: nothing said is lost, no window is ever invalid, every next call is accepted."""
    scripts._SCRIPTS[PARTS] = _script
    figure = dict.fromkeys(("said", "said_during_summaries", "compactions", "clears", "orders", "turns"), 0)
    problems: list[str] = []
    for number in range(runs):
        run = begin(f"rehearsal/{PARTS}", policy="demo", max_turns=200)
        child = fork(_interrupted_by_words(run.pk))
        for count in range(WORDS):
            _ask(run, "say", text=f"word {number}-{count}")
            _ask(run, random.choice(("compact", "clear")))
            PAUSE.wait(random.uniform(0.02, 0.3))
        ended(child)
        ended(fork(walk(run.pk)))
        step(run.pk)
        run.refresh_from_db()
        problems += [f"{run.slug}: {one}" for one in [*_lost(run), *_invalid(run)]]
        for name, more in _counted(run).items():
            figure[name] += more
    if runs and not figure["said_during_summaries"]:
        problems.append("nothing was said while a summary was written: the check shows nothing")
    return {"runs": runs, **figure, "lost": len(problems)}, problems


def _interrupted_by_words(run_id: int) -> Callable[[], None]:
    """A walking life in which somebody writes at the very moment a summary is begun."""
    real, live, said = archive.append, walk(run_id), [0]

    def append(claim: Any, *events: Any, **rest: Any) -> int:
        seq = real(claim, *events, **rest)
        if any(event.kind == "compaction.started" for event in events):
            said[0] += 1
            _ask(Run.objects.get(pk=run_id), "say", text=f"during summary {said[0]}")
        return seq

    def lived() -> None:
        archive.append = append
        live()

    return lived


def _ask(run: Run, kind: str, **args: Any) -> None:
    control.order(door.local(), run, kind, args)


def _lost(run: Run) -> list[str]:
    """Words that do not stand once in the archive, or no longer stand in the window: it keeps all a person wrote."""
    said = [order.args["text"] for order in Order.objects.filter(run=run, kind="say")]
    rows = list(Message.objects.filter(run=run, kind="say"))
    bodies = blobs.read([row.blob_id for row in rows])
    found = [block["text"] for row in rows for block in bodies[row.blob_id] if block["type"] == "text"]
    version, _ = windows.load(run)
    shown = {item.message for item in version.items}
    wrong = [
        f"{one!r} stands {found.count(one)} times in the archive" for one in said if found.count(one) != 1
    ]
    gone = [row.number for row in rows if row.number <= version.base and row.number not in shown]
    return [*wrong, *(f"message {number} of a person left the window" for number in gone)]


def _invalid(run: Run) -> list[str]:
    """A window that was repaired, a call that was refused, an order without its answer."""
    wrong = [] if run.state == "done" else [f"it is {run.state} ({run.reason})"]
    wrong += [
        f"{count} orders wait" for count in [Order.objects.filter(run=run, state="pending").count()] if count
    ]
    wrong += [
        f"{event.kind}: {event.data}" for event in Event.objects.filter(run=run, kind="message.repaired")
    ]
    wrong += [f"turn {turn.number} was lost" for turn in Turn.objects.filter(run=run, status="lost")]
    return wrong if verify(run).ok else [*wrong, str(verify(run))]


def _counted(run: Run) -> dict[str, int]:
    applied, asked = Edit.objects.filter(run=run, state="applied"), Order.objects.filter(run=run)
    words = [order.args["text"] for order in asked.filter(kind="say")]
    return {
        "said": len(words),
        "said_during_summaries": sum(word.startswith("during") for word in words),
        "compactions": applied.filter(kind="compact").count(),
        "clears": applied.filter(kind="clear").count(),
        "orders": asked.count(),
        "turns": run.turn_no,
    }
