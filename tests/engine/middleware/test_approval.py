"""Approval: what a person was shown is what runs, and an interrupted call is never repeated behind their back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from runs.engine.errors import EngineError, NeedsApproval, UnknownOutcome
from runs.engine.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallEnded,
    CallStarted,
    CallStatus,
    Decision,
    Effect,
    TurnClosed,
    Verdict,
)
from runs.engine.messages import canonical, result_text, sha256
from runs.engine.policy import PolicyError, preset
from runs.engine.ports import ToolContext, ToolResult
from runs.engine.sandbox import Ask
from runs.engine.settle import Settled
from tests.cases.structure import problems

from ..stage import Play, Probe, answer, of, play, use

ASKS = {"tools": ["probe"]}


def asked(*blocks: Any, tools: Sequence[Probe], **approval: Any) -> Play:
    """A run whose first answer makes these calls, and has come to the one that waits for a person."""
    stage = play(answer(*blocks), answer("Done."), tools=tools, approval=approval or ASKS)
    with pytest.raises((NeedsApproval, UnknownOutcome)):
        stage.turn()
    return stage


def decide(stage: Play, verdict: Verdict, **more: Any) -> None:
    call = stage.agent.waiting()
    assert call is not None
    stage.take(stage.agent.acting.decide(call, Decision(call=call.id, verdict=verdict, by="ada", **more)))


def ends(stage: Play) -> dict[str, CallStatus]:
    closed = [end for turn in of(TurnClosed, stage.archive.events) for end in turn.ended]
    return {end.call.id: end.status for end in [*of(CallEnded, stage.archive.events), *closed]}


def test_nothing_asks_unless_the_policy_says_so() -> None:
    probe = Probe()
    play(answer(use("p", "probe", what="x")), tools=[probe]).turn()
    assert len(probe.ran) == 1


def test_a_call_that_asks_has_not_started_and_the_run_says_what_it_waits_for() -> None:
    probe = Probe()
    stage = asked(use("p", "probe", what="x"), tools=[probe])
    (event,) = of(ApprovalAsked, stage.archive.events)
    assert event.data() == {
        "id": "p",
        "name": "probe",
        "effect": "effectful",
        "input_sha256": sha256(canonical({"what": "x"})),
        "about": "approval",
        "why": "probe asks first.",
    }
    assert probe.ran == []
    assert stage.archive.calls[1, "p"] == "planned"
    assert stage.agent.waiting() == event.call


def test_what_is_allowed_runs_once_and_the_next_call_asks_again() -> None:
    probe = Probe()
    stage = asked(use("p", "probe", what="x"), use("q", "probe", what="y"), tools=[probe])
    decide(stage, Verdict.ALLOW)
    with pytest.raises(NeedsApproval):
        stage.turn()
    assert len(probe.ran) == 1
    waiting = stage.agent.waiting()
    assert waiting is not None
    assert waiting.id == "q"


def test_always_holds_for_the_tool_and_for_the_whole_run() -> None:
    probe = Probe()
    stage = asked(use("p", "probe", what="x"), use("q", "probe", what="y"), tools=[probe])
    decide(stage, Verdict.ALWAYS)
    stage.turn()
    assert len(probe.ran) == 2


def test_what_is_refused_is_told_with_the_reason_and_never_starts() -> None:
    probe = Probe()
    stage = asked(use("p", "probe", what="x"), use("r", "read_notes", section="facts"), tools=[probe])
    decide(stage, Verdict.DENY, reason="Not on a Friday.")
    stage.turn()
    assert (probe.ran, of(CallStarted, stage.archive.events)) == ([], [])
    assert ends(stage) == {"p": CallStatus.DENIED, "r": CallStatus.DONE}
    told = stage.results()[0]
    assert told["is_error"] is True
    assert told["content"].endswith("They wrote: Not on a Friday.")


def test_what_a_person_wrote_runs_instead_and_the_agent_is_told() -> None:
    given: list[str] = []

    class Echo(Probe):
        def run(self, given_: Probe.Input, context: ToolContext) -> ToolResult:
            given.append(given_.what)
            return ToolResult(content=f"did {given_.what}")

    stage = asked(use("p", "probe", what="x"), tools=[Echo()])
    decide(stage, Verdict.EDIT, input={"what": "y"})
    stage.turn()
    assert given == ["y"]
    assert result_text(stage.results()[0]) == (
        'did y\n\nA person changed the input before this ran. What ran: {"what": "y"}'
    )
    (word,) = of(ApprovalAnswered, stage.archive.events)
    assert word.input_sha256 == sha256(canonical({"what": "y"}))


def test_a_pure_tool_asks_only_when_it_is_named() -> None:
    probe = Probe(effect=Effect.PURE)
    play(answer(use("p", "probe", what="x")), tools=[probe], approval={"tools": ["effectful"]}).turn()
    assert len(probe.ran) == 1
    stage = asked(use("p", "probe", what="x"), tools=[Probe(effect=Effect.PURE)])
    decide(stage, Verdict.ALLOW)
    stage.turn()
    assert ends(stage) == {"p": CallStatus.DONE}


def test_every_effectful_tool_asks_by_one_word() -> None:
    stage = play(answer(use("p", "probe", what="x")), tools=[Probe()], approval={"tools": ["effectful"]})
    with pytest.raises(NeedsApproval, match="probe asks first"):
        stage.turn()


def test_a_turn_that_is_given_up_has_an_answer_for_every_call() -> None:
    probe = Probe()
    stage = asked(use("p", "probe", what="x"), use("q", "probe", what="y"), tools=[probe])
    stage.take(stage.agent.abandon("Skipped: the run was stopped."))
    assert ends(stage) == {"p": CallStatus.SKIPPED, "q": CallStatus.SKIPPED}
    assert stage.agent.open is None
    stage.take(stage.agent.say("Go on.", "ada"))
    stage.turn()
    assert problems(stage.bodies()[-1]["messages"]) == []


def interrupted(**approval: Any) -> tuple[Play, Probe]:
    """A run whose worker stopped while the call `p` ran."""
    probe = Probe()
    stage = play(answer(use("p", "probe", what="x")), answer("Done."), tools=[probe], approval=approval)
    for event in stage.agent.turn():
        stage.archive.append(event)
        if isinstance(event, CallStarted):
            break
    assert stage.agent.open is not None
    stage.agent.open.settled["p"] = Settled(started="12:03:11")
    return stage, probe


def test_by_default_the_agent_is_told_that_the_outcome_is_unknown_and_the_run_goes_on() -> None:
    stage, probe = interrupted()
    stage.turn()
    assert ends(stage) == {"p": CallStatus.UNKNOWN}
    assert "started 12:03:11" in stage.results()[0]["content"]
    assert probe.ran == []


def test_the_policy_can_make_the_run_wait_until_a_person_has_looked() -> None:
    stage, probe = interrupted(on_unknown="wait")
    with pytest.raises(UnknownOutcome, match="Nobody knows how probe ended"):
        stage.turn()
    (event,) = of(ApprovalAsked, stage.archive.events)
    assert event.about == "unknown_outcome"
    assert probe.ran == []


@pytest.mark.parametrize(
    ("verdict", "status", "ran"),
    [
        (Verdict.DONE, CallStatus.DONE, 0),
        (Verdict.AGAIN, CallStatus.DONE, 1),
        (Verdict.LEAVE, CallStatus.UNKNOWN, 0),
    ],
)
def test_what_the_person_found_counts(verdict: Verdict, status: CallStatus, ran: int) -> None:
    stage, probe = interrupted(on_unknown="wait")
    with pytest.raises(UnknownOutcome):
        stage.turn()
    decide(stage, verdict)
    stage.turn()
    assert ends(stage) == {"p": status}
    assert len(probe.ran) == ran
    assert len(of(CallStarted, stage.archive.events)) == 1 + ran


def test_an_interrupted_call_that_had_been_allowed_does_not_ask_twice() -> None:
    stage = asked(use("p", "probe", what="x"), tools=[Probe()])
    decide(stage, Verdict.ALLOW)
    for event in stage.agent.turn():
        stage.archive.append(event)
        if isinstance(event, CallStarted):
            break
    assert stage.agent.open is not None
    stage.agent.open.settled["p"] = Settled(started="12:03:11")
    stage.turn()
    assert ends(stage) == {"p": CallStatus.UNKNOWN}
    assert len(of(ApprovalAsked, stage.archive.events)) == 1


def test_a_list_without_approval_still_asks() -> None:
    names = [name for name in preset("default").techniques if name != "approval"]
    policy = preset("default").changed(techniques=names, approval=ASKS)
    stage = play(answer(use("p", "probe", what="x")), tools=[Probe()], policy=policy)
    with pytest.raises(NeedsApproval):
        stage.turn()


def test_a_tool_that_nobody_knows_is_refused_when_the_run_begins() -> None:
    with pytest.raises(EngineError, match="names the tool 'run_comand', and there is none"):
        play(approval={"tools": ["run_comand"]})


def test_an_unknown_word_for_unknown_outcomes_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"approval\.on_unknown"):
        preset("default").changed(approval={"on_unknown": "ask"})


def test_without_a_sandbox_each_command_asks_whatever_was_said_before(tmp_path: Path) -> None:
    """No policy, and no earlier word, lets a command run without a wall and without a person."""
    ask = Ask(prefix=Path("/usr"), why="bwrap not found")
    calls = [
        use("a", "run_command", command="echo one >> a"),
        use("b", "run_command", command="echo two >> a"),
    ]
    stage = play(answer(*calls), workspace=tmp_path, sandbox=ask)
    with pytest.raises(NeedsApproval, match="There is no sandbox here"):
        stage.turn()
    decide(stage, Verdict.ALWAYS)
    with pytest.raises(NeedsApproval):
        stage.turn()
    assert (tmp_path / "a").read_text() == "one\n"
    decide(stage, Verdict.DENY)
    stage.turn()
    assert (tmp_path / "a").read_text() == "one\n"
