"""Whole runs under random luck: an llm that binds its thinking and refuses what is invalid, tools, troubles, orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runs.engine.errors import BadRequest, Cancelled, EngineError, InvalidWindow, StreamCut
from runs.engine.events import Delta, Event, TurnOpened, Usage, WindowEdited
from runs.engine.messages import canonical, text
from runs.engine.middleware.base import Asked
from runs.engine.ports import Answer, Cancel, Capability, Request, ToolContext, ToolResult
from runs.engine.window.render import model_view
from runs.engine.window.versions import entries
from tests.cases.structure import problems

from .stage import PRICE, Play, Probe, lines, play, thought, use

KINDS = (
    *("call", "call", "call", "calls", "big", "huge", "error", "text", "cut", "pause", "empty"),
    *("trouble", "refusal", "stop", "same", "say", "compact", "clear"),
)
LUCK = st.lists(st.sampled_from(KINDS), min_size=4, max_size=26)
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
OFTEN = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(slots=True)
class Strict:
    """Refuses an invalid list, and thinking that stands behind another prefix than the one it was signed for."""

    capability: Capability
    luck: str = "call"
    asked: list[Request] = field(default_factory=list)
    prefixes: dict[str, bytes] = field(default_factory=dict)

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        self.asked.append(request)
        body = _bare(json.loads(request.body))
        wrong = [*problems(body["messages"]), *self._unbound(body)]
        if wrong:
            raise BadRequest(f"400: {wrong[0]}", status=400)
        yield Delta(text="hm")
        content, stop = self._said(cancel, summary=body["metadata"]["user_id"].endswith(":summary"))
        signature = f"sig{len(self.asked)}"
        self.prefixes[signature] = (
            canonical([body["system"], body["tools"], body["messages"]]) if "tools" in body else b""
        )
        used = Usage(input=len(request.body) // 5, output=50)
        signed = tuple(
            {**block, "signature": signature} if "signature" in block else block for block in content
        )
        yield Answer(content=signed, stop_reason=stop, usage=used, first_token_ms=1, ms=1)

    def _unbound(self, body: dict[str, Any]) -> Iterator[str]:
        for at, message in enumerate(body["messages"] if self.capability.thinking == "bound" else ()):
            for block in message["content"] if message["role"] == "assistant" else ():
                if block["type"] == "thinking":
                    prefix = canonical([body["system"], body["tools"], body["messages"][:at]])
                    if self.prefixes.get(block["signature"]) != prefix:
                        yield f"messages.{at}: the block is bound to a different conversation"

    def _said(self, cancel: Cancel, summary: bool) -> tuple[list[Any], str]:
        at = len(self.asked)
        if self.luck == "trouble":
            self.luck = "call"
            raise StreamCut("cut")
        if summary:
            return [text(f"Summary {at}.")], "end_turn"
        if self.luck == "stop":
            cancel("stop_now")
            raise Cancelled("stop_now")
        if self.luck in ("text", "pause", "cut", "refusal", "empty"):
            stop = {"pause": "pause_turn", "cut": "max_tokens", "refusal": "refusal"}.get(
                self.luck, "end_turn"
            )
            return [thought("t"), text("" if self.luck == "empty" else f"Said {at}."), thought("u")], stop
        same = self.luck == "same"
        ids = [f"c{0 if same else at}_{spot}" for spot in range(9 if self.luck == "calls" else 1)]
        return [
            thought("t"),
            text("I look."),
            *(use(call, "probe", what=f"{self.luck} {at}") for call in ids),
        ], "tool_use"

    def count(self, request: Request) -> int | None:
        return None


def _bare(body: dict[str, Any]) -> dict[str, Any]:
    """Without cache marks: they are no part of what thinking is bound to."""
    for spot in [
        *body.get("system", []),
        *(block for message in body["messages"] for block in message["content"]),
    ]:
        spot.pop("cache_control", None)
    body.setdefault("system", [])
    return body


class Luck:
    """A run, step by step, each with its luck."""

    def __init__(self, thinking: str) -> None:
        probe = Probe(does=self.does)
        policy = {"clear": {"frees": 0.3}, "valves": {"spin_pause": 0, "turns": 0, "usd": 0}}
        self.stage: Play = play(
            thinking=thinking, limit=9_000, tools=[probe], compact={"min_new_turns": 1}, **policy
        )
        capability = Capability(llm="said", context=12_000, max_output=1_000, thinking=thinking, price=PRICE)
        self.llm = Strict(capability)
        self.stage.agent.desk.llm = self.llm
        self.opened: list[tuple[TurnOpened, Any]] = []

    def does(self, context: ToolContext) -> ToolResult:
        size = {"big": 150, "huge": 600, "calls": 40}.get(self.llm.luck, 12)
        return ToolResult(content=lines(str(len(self.llm.asked)), size), is_error=self.llm.luck == "error")

    def step(self, luck: str) -> None:
        agent = self.stage.agent
        self.llm.luck = luck
        agent.desk.cancel = Cancel()
        if agent.finished:
            self.take(agent.say("And now?", "Ada"))
        asked = Asked(keep=len(self.llm.asked) % 4, method="both" if len(self.llm.asked) % 2 else "summary")
        acts = {"say": lambda: agent.say("More, please.", "Ada"), "clear": lambda: agent.clear(asked)}
        events = {**acts, "compact": lambda: agent.compact(asked)}.get(luck, agent.turn)()
        try:
            self.take(events)
        except (BadRequest, InvalidWindow):
            raise
        except EngineError:
            assert luck in ("stop", "refusal", "cut", "empty")

    def take(self, events: Iterator[Event]) -> None:
        for event in events:
            self.stage.archive.append(event)
            if isinstance(event, TurnOpened):
                self.opened.append((event, self.stage.agent.desk.window.version))
            if isinstance(event, WindowEdited):
                assert event.edit.tokens_after < event.edit.tokens_before

    def rebuilt(self) -> None:
        """W12: the request of every attempt is built again from the archive alone."""
        archive = self.stage.archive.history.messages
        known = {message.number: message for message in archive}
        for event, version in self.opened:
            shown = entries(version, known, event.upto)
            seen = [message for message in archive if message.number <= event.upto]
            again = model_view(event.frame, shown, seen, "r-stage", event.turn)
            assert again.request.sha256 == event.request_sha256


@OFTEN
@given(LUCK, st.sampled_from(["none", "adaptive", "bound"]))
def test_whatever_happens_no_request_is_refused_and_the_archive_takes_every_event(
    luck: list[str], kind: str
) -> None:
    run = Luck(kind)
    for one in luck:
        run.step(one)
    run.rebuilt()
    assert run.stage.archive.originals_stand()
    assert run.stage.agent.desk.turn == run.stage.archive.turn_no
    assert run.stage.agent.desk.spent.turns == run.stage.archive.turn_no
