"""Llms that answer badly: every kind once and without end, on whole runs and at every byte of a call (A43)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.db import connection

from runs import control, tasks
from runs.engine import asking
from runs.engine.events import CallEnded, CallStarted, TurnAnswered, TurnLost
from runs.engine.llm.rehearsal.faults import NASTY
from runs.engine.llm.rehearsal.personality import ANSWER, WIRE
from runs.engine.llm.rehearsal.scripts import hello
from runs.engine.messages import canonical, clean, sha256
from runs.engine.policy import preset
from runs.models import Call, Event, Message, Run, Turn
from runs.store import blobs, requests, windows
from runs.store.verify import verify
from tests.builders import a_person
from tests.engine.llm.asking import llm
from tests.engine.llm.playing import Remembering, agent_over, walked
from tests.runner.conftest import walked as to_its_end
from tests.store.test_verify import damaged

from .conftest import Report
from .house import ROOT, size
from .servers import Postgres, Redis

DONE, ASKS, WAITS, SPINS = ("done", ""), ("waiting", "person"), ("waiting", "llm"), ("paused", "spin")
ALWAYS = 999
FORGET = "DELETE FROM runs_blob WHERE sha256 = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A personality and where its run ends (reliability.md §3g): when it is bad once, and when it never stops."""

    fault: str
    once: tuple[str, str] = DONE
    always: tuple[str, str] = SPINS


PERSONALITIES = (
    Bad(fault="bad_json"),
    Bad(fault="not_object"),
    Bad(fault="nan"),
    Bad(fault="deep"),
    Bad(fault="odd_numbers"),
    Bad(fault="unknown_tool"),
    Bad(fault="no_fields"),
    Bad(fault="odd_ids"),
    Bad(fault="many_calls"),
    Bad(fault="duplicate_ids"),
    Bad(fault="unsigned_thinking"),
    Bad(fault="text_last"),
    Bad(fault="blank_blocks"),
    Bad(fault="unknown_block"),
    Bad(fault="extra_keys"),
    Bad(fault="server_result"),
    Bad(fault="every_character"),
    Bad(fault="refusal", once=ASKS, always=ASKS),
    Bad(fault="context_exceeded", once=ASKS, always=ASKS),
    Bad(fault="pause_turn", always=ASKS),
    Bad(fault="max_tokens", always=ASKS),
    Bad(fault="nul", always=DONE),
    Bad(fault="long", always=WAITS),
    Bad(fault="surrogates", always=DONE),
    Bad(fault="empty", always=DONE),
    Bad(fault="thinking_only", always=DONE),
    Bad(fault="markup", always=DONE),
    Bad(fault="end_with_call", always=DONE),
    Bad(fault="unknown_reason", always=DONE),
    Bad(fault="wrong_delta", once=WAITS, always=WAITS),
    *(Bad(fault=fault, always=DONE) for fault in sorted(WIRE - {"wrong_delta"})),
)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker but the test, and no waiting between two tries."""
    monkeypatch.setattr(tasks, "hint", lambda run_id: True)
    monkeypatch.setattr(asking, "BACKOFF_S", 0.0)


def named(bad: Bad, number: int) -> tuple[str, tuple[str, str]]:
    """The llm of the `number`th run of a personality, and where it should end: other scripts, other turns."""
    script, turn = ("hello", "errands-4")[number // 2 % 2], 1 + number // 4 % 3
    if number % 2:
        return f"rehearsal/{script}+{bad.fault}:{ALWAYS}@{turn}-", bad.always
    return f"rehearsal/{script}+{bad.fault}@{turn}", bad.once


def lived(llm: str) -> Run:
    """A whole run, from its first slice to where it needs somebody."""
    run = control.start(a_person(), control.Start(goal="Bear it.", llm=llm, pace="fast"))
    return to_its_end(run)


def wrong(run: Run, expected: tuple[str, str]) -> Iterator[str]:
    if (run.state, run.reason.partition(":")[0]) != expected:
        yield f"{run.llm} is {run.state} ({run.reason}), and not {expected}"
    if not verify(run).ok:
        yield f"{run.llm}: {verify(run)}"
    cut = Turn.objects.filter(run=run).exclude(stop_reason__in=("", "tool_use")).values("number")
    if ran := Call.objects.filter(run=run, turn__in=cut).count():
        yield f"{run.llm}: {ran} calls of answers that did not end in order to call"


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
def test_every_bad_llm_ends_where_it_is_documented(report: Report, caplog: pytest.LogCaptureFixture) -> None:
    assert {bad.fault for bad in PERSONALITIES} == ANSWER | WIRE
    runs, problems = 0, []
    for at, bad in enumerate(PERSONALITIES):
        for number in range(size(1, 20)):
            name, expected = named(bad, number if size(0, 1) else at % 2)
            problems += wrong(lived(name), expected)
            runs += 1
    tracebacks = [record.getMessage() for record in caplog.records if record.exc_info]
    figure = {"personalities": len(PERSONALITIES), "runs": runs, "tracebacks": len(tracebacks)}
    report(f"A43-{connection.vendor}", figure, [*problems, *tracebacks])


def test_a_call_cut_at_any_byte_is_never_run(tmp_path: Path, report: Report) -> None:
    raw = json.dumps(hello.script().step(1).calls[0].input, ensure_ascii=False).encode()
    problems, cuts = [], range(0, len(raw) + 1, size(4, 1))
    connected = llm(name="rehearsal")
    for at in cuts:
        connected.capability = replace(connected.capability, llm=f"rehearsal/hello+cut_call:{at}@1")
        agent, messages = agent_over(
            connected, tmp_path, Remembering(), policy=preset("default"), goal="Greet.", slug=f"r-cut-{at}"
        )
        events = list(walked(agent, messages))
        planned = [event.calls for event in events if isinstance(event, TurnAnswered)]
        ran = [event for event in events if isinstance(event, CallStarted | CallEnded)]
        lost = [event for event in events if isinstance(event, TurnLost)]
        if planned != [()] or ran or len(lost) > 1 or list(tmp_path.iterdir()):
            problems.append(f"cut at byte {at}: planned {planned}, ran {ran}, {len(lost)} lost")
        list(walked(agent, messages))
        if agent.desk.turn != 2:
            problems.append(f"cut at byte {at}: the next request was not answered")
    report("A43-bytes", {"bytes": len(cuts), "executions": 0 if not problems else len(problems)}, problems)


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
def test_nasty_text_of_an_llm_is_archived_sent_back_and_the_same_for_ever(report: Report) -> None:
    """What no database takes becomes visible once, and from then on not a byte changes (A46, the llm's half)."""
    run = lived("rehearsal/hello+every_character@1")
    first = windows.one_message(run.pk, Message.objects.get(run=run, kind="answer", turn=1).number)
    texts, call = [block for block in first.content if block["type"] == "text"], first.content[-1]
    problems = list(wrong(run, DONE))
    problems += [] if texts[-1]["text"] == clean(NASTY) else ["the text is not what came, cleaned"]
    problems += [] if call["input"] == {"path": clean(NASTY[:500])} else ["the call's input is not what came"]
    problems += (
        [] if canonical(clean(NASTY)) in requests.body(run, 2) else ["it was not sent back as it stands"]
    )
    answered = Event.objects.get(run=run, kind="turn.answered", turn=1)
    came = json.loads(blobs.read([answered.data["raw"]])[answered.data["raw"]])
    pairs_joined = json.loads(json.dumps(NASTY))  # what stands for one character in JSON is one
    problems += [] if came[-2]["text"] == pairs_joined else ["what came is not kept as it came"]
    gone = damaged(run, lambda cursor: cursor.execute(FORGET, [answered.data["raw"]]))
    problems += [] if not gone.ok and gone.first_bad.seq == answered.seq else [f"what came is gone: {gone}"]
    for turn in Turn.objects.filter(run=run):
        same = sha256(requests.body(run, turn.number)) == turn.request_sha256
        problems += [] if same else [f"the request of turn {turn.number} is not rebuilt"]
    report(f"A46-llm-{connection.vendor}", {"characters": len(NASTY)}, problems)


def test_on_postgres_they_end_alike(servers: tuple[Postgres, Redis]) -> None:
    """The same checks in a process of their own, which prints and keeps its lines itself."""
    checks = (
        test_every_bad_llm_ends_where_it_is_documented,
        test_nasty_text_of_an_llm_is_archived_sent_back_and_the_same_for_ever,
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *(f"{__file__}::{check.__name__}" for check in checks),
            "-q",
            "-p",
            "no:cacheprovider",
        ],
        cwd=ROOT,
        env=os.environ | {"AGENTDASH_TEST_DATABASE_URL": servers[0].url()},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-3000:]
