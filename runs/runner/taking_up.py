"""An agent from what the archive holds: the same whether the run is new, goes on, or comes out of a crash."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from django.conf import settings

from runs.engine import tokens
from runs.engine.assemble import Parts, assemble
from runs.engine.caching import Sent
from runs.engine.events import TurnLost
from runs.engine.llm import connect
from runs.engine.llm.connect import is_rehearsal
from runs.engine.loop import Agent, Open
from runs.engine.memory import SystemClock
from runs.engine.messages import Counted, Kind
from runs.engine.middleware.base import Numbers, Record, Spent
from runs.engine.middleware.words import Words
from runs.engine.policy.model import from_mapping
from runs.engine.ports import Cancel, Llm, Sandbox
from runs.engine.sandbox import choose
from runs.engine.settle import Settled
from runs.engine.window.gauge import Measured
from runs.engine.window.versions import entries
from runs.models import Run
from runs.store import windows
from runs.store.layers import DbHistory, files_of, spool_of
from runs.store.resume import OpenTurn, Standing

from .waiting import Aside

SLOTS = 1000
"""Uids that commands run under when the worker is root, one a run modulo this."""


def take_up(standing: Standing, cancel: Cancel) -> Agent:
    run, found = standing.run, standing.open
    files = files_of(run.slug)
    answered = found if found and found.answer else None
    agent = assemble(
        Parts(
            slug=run.slug,
            policy=from_mapping(run.policy),
            llm=llm_of(run.llm, str(run.options.get("pace") or "human")),
            version=standing.version,
            messages=standing.messages,
            workspace=Path(run.workspace),
            files=files,
            history=DbHistory(run),
            sandbox=_sandbox(is_rehearsal(run.llm), run.pk % SLOTS),
            clock=SystemClock(),
            cancel=cancel,
            spool=spool_of(run.slug),
            turn=answered.number if answered else run.turn_no,
            attempts=standing.next.attempts,
            notes=standing.notes,
            numbers=_numbers(standing),
            spent=_spent(standing),
            record=_record(standing),
            measured=_measured(standing),
            measured_in=standing.measured.frame if standing.measured else "",
            summariser=_summariser(run),
            ratio=_ratio(standing),
            found=_open(answered) if answered else None,
            words=_words(standing),
        )
    )
    agent.asking.before = _sent(standing)
    return agent


def _sent(standing: Standing) -> Sent | None:
    """The request that another worker sent last: what the cache may still hold."""
    last = standing.measured
    if last is None or not last.prompt:
        return None
    known = {message.number: message for message in standing.messages}
    same = last.version == standing.version.number
    return Sent(
        frame=windows.frame(last.frame),
        version=last.version,
        entries=entries(standing.version, known, last.upto) if same else (),
        prompt=last.prompt,
        at_ms=last.at_ms,
    )


def _summariser(run: Run) -> Llm | None:
    """The llm that the policy wants summaries from, where it is not the run's own."""
    wanted = from_mapping(run.policy).compact.llm
    return llm_of(wanted, "human") if wanted and wanted != run.llm else None


def lost_attempt(standing: Standing) -> TurnLost | None:
    """An llm call whose worker is gone: nothing of it is known, the turn is tried again."""
    found = standing.open
    if found is None or found.answer is not None:
        return None
    return TurnLost(
        turn=found.number, attempt=found.attempt, reason="the worker stopped while the llm answered"
    )


@cache
def llm_of(llm: str, pace: str) -> Llm:
    """One client for all runs of an llm in this process. Raises LlmTrouble, UnknownLlm."""
    environment = settings.AGENTDASH
    return Aside(
        connect(
            llm,
            key=environment.anthropic_api_key,
            auth_token=environment.anthropic_auth_token,
            base_url=environment.anthropic_base_url,
            pace=pace,
            prices=getattr(settings, "AGENTDASH_PRICES", {}),
        )
    )


def prepare() -> None:
    """Load what the first turn needs and takes seconds: the SDK, and the proof that the sandbox holds."""
    llm_of("rehearsal", "human")
    _sandbox(rehearsal=True, slot=0)


def _sandbox(rehearsal: bool, slot: int) -> Sandbox:
    made = (Path(settings.AGENTDASH_HOME) / "workspaces",)
    unsandboxed = settings.AGENTDASH.unsandboxed
    python = Path(sys.executable)
    return choose(rehearsal=rehearsal, python=python, uid_slot=slot, made=made, unsandboxed=unsandboxed)


def _numbers(standing: Standing) -> Numbers:
    upcoming = standing.next
    return Numbers(
        message=upcoming.message, version=upcoming.version, edit=upcoming.edit, episode=upcoming.episode
    )


def _spent(standing: Standing) -> Spent:
    run, sums = standing.run, standing.sums
    return Spent(
        turns=run.turn_no,
        tokens=sums.input + sums.output + sums.cache_read + sums.cache_write,
        cost=sums.cost,
        started_ms=int(run.created_at.timestamp() * 1000),
    )


def _record(standing: Standing) -> Record:
    failures = standing.failures
    return Record(
        compacted_at=standing.compacted,
        failures=len(failures),
        failed_at=failures[-1] if failures else 0,
        episode=standing.episode,
        undone_at=standing.undone,
    )


def _measured(standing: Standing) -> Measured | None:
    last = standing.measured
    if last is None or last.version != standing.version.number:
        return None
    return Measured(version=last.version, upto=last.upto, prompt=last.prompt)


def _ratio(standing: Standing) -> float:
    """What usage taught so far: stored sizes of results are estimates that were corrected by it."""
    results = [message for message in standing.messages if message.kind is Kind.RESULTS]
    rough = [message for message in results if message.counted is Counted.ESTIMATE][-20:]
    raw = sum(tokens.of_content(message.content) for message in rough)
    return sum(message.tokens for message in rough) / raw if raw else 1.0


def _words(standing: Standing) -> Words:
    """What persons said of the calls of the open turn."""
    names = {known.call.id: known.call.name for known in standing.open.calls} if standing.open else {}
    words = Words(always=set(standing.said.always))
    for word in standing.said.words:
        words.take(word, names.get(word.call, ""))
    return words


def _open(found: OpenTurn) -> Open:
    settled = {
        known.call.id: Settled(
            result=known.result, started=f"{known.started_at:%H:%M:%S}" if known.started_at else ""
        )
        for known in found.calls
    }
    return Open(
        attempt=found.attempt,
        calls=tuple(known.call for known in found.calls),
        settled=settled,
        stop_reason=found.stop_reason,
        cost=found.cost,
    )
