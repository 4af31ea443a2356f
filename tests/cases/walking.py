"""Operations that go on for several turns: a whole run, a list that grows, a store that fills."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from runs.engine.assemble import limit_of, technique_named
from runs.engine.errors import InvalidWindow, LlmTrouble, RunInterrupted
from runs.engine.events import Delta, Effect, Item, Version
from runs.engine.loop import Agent
from runs.engine.messages import Author, Kind, Role, canonical, sha256
from runs.engine.ports import Answer, Cancel, Capability, Request, ToolContext, ToolResult
from runs.engine.tools import Toolbox
from runs.engine.tools.toolbox import key_of
from runs.engine.window.versions import Window

from .ground import SUMMARY, CannedLlm, Ground, blocks_of, policy_of

MOST_TURNS = 100
DONE = {"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}


@dataclass(slots=True)
class WalkingLlm(CannedLlm):
    """Turns get the case's answers in their order, the last one again and again; summaries the summary replies."""

    turns: Sequence[Mapping[str, Any]] = (DONE,)
    walked: list[Request] = field(default_factory=list)

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        if b":summary" in request.body:
            yield from CannedLlm.answer(self, request, cancel)
            return
        self.walked.append(request)
        reply = self.turns[min(len(self.walked), len(self.turns)) - 1]
        yield from CannedLlm(self.capability, [reply]).answer(request, cancel)


@dataclass(slots=True, kw_only=True)
class CaseTool:
    """A tool that gives what the case says, by the call's id or by its own name."""

    name: str
    results: Mapping[str, Any]
    ground: Ground
    description: str = "A tool of the case."
    effect: Effect = Effect.EFFECTFUL

    class Input(BaseModel):
        model_config = ConfigDict(extra="allow")

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        call = next(
            call
            for call in self.ground.desk.window.calls()
            if key_of(context.run, context.turn, call) == context.key
        )
        self.ground.ran.append(call)
        return ToolResult(content=self.results.get(call, self.results.get(self.name, "ok")))


def run(ground: Ground, params: Mapping[str, Any]) -> None:
    """The whole loop until the llm asks for nothing more, or something holds it."""
    desk = ground.desk
    turns = next(iter(_replies(params)), None) or [DONE]
    desk.llm = ground.llm = WalkingLlm(
        ground.llm.capability, ground.llm.replies or [SUMMARY], ground.llm.error, turns=turns
    )
    names = {block["name"] for turn in turns for block in turn["content"] if block["type"] == "tool_use"}
    names |= {tool["name"] for tool in desk.frame.tools}
    results = params.get("tool_results") or {}
    toolbox = Toolbox([CaseTool(name=name, results=results, ground=ground) for name in sorted(names)])
    techniques = [technique_named(name)() for name in desk.policy.techniques]
    for technique in techniques:
        technique.start(desk)
    context = ToolContext(
        run=desk.slug, turn=0, key="", workspace=Path(), files=desk.files, history=desk.history,
        notes=lambda: (), sandbox=None, cancel=Cancel(),  # type: ignore[arg-type]
    )  # fmt: skip
    agent = Agent(desk, techniques, toolbox, context, None)
    most = int(params.get("max_turns") or MOST_TURNS)
    try:
        while not agent.finished and len(ground.prefixes) < most:
            ground.prefixes.append(ground.request()["messages"])
            ground.take(agent.turn())
    except RunInterrupted as held:
        ground.paused = held.reason
        ground.error = str(held)
    except (LlmTrouble, InvalidWindow) as trouble:
        ground.error = str(trouble)


def _replies(params: Mapping[str, Any]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Whatever the case calls them: a list of answers, or one answer, that is no summary."""
    for key, value in params.items():
        listed = value if isinstance(value, list) else [value]
        if key.startswith("summary") or not listed:
            continue
        if all(isinstance(one, Mapping) and "content" in one and "stop_reason" in one for one in listed):
            yield listed


def cache_marks(ground: Ground, params: Mapping[str, Any]) -> None:
    """The list grows a round at a time; each round is a request."""
    grow(ground, ground.prefixes)
    for at in range(int(params.get("rounds") or 0) if not isinstance(params.get("rounds"), list) else 0):
        ground.append(Role.ASSISTANT, Author.LLM, Kind.ANSWER, [{"type": "text", "text": f"round {at}"}])
        ground.append(Role.USER, Author.PERSON, Kind.SAY, [{"type": "text", "text": f"go on {at}"}])
        ground.prefixes.append(ground.request()["messages"])
    for given in params["rounds"] if isinstance(params.get("rounds"), list) else ():
        for message in given if isinstance(given, list) else [given]:
            _append(ground, message)
        ground.prefixes.append(ground.request()["messages"])


def grow(ground: Ground, requests: list[Any]) -> None:
    """The window from its first message on; a request wherever a person's side stands last."""
    whole = ground.desk.window.entries
    first = Version(number=1, parent=0, edit=0, base=1, items=(Item(message=whole[0].message.number),))
    ground.desk.window = Window(first, [whole[0].message])
    for at, entry in enumerate(whole):
        if at:
            ground.desk.window.append(entry.message)
        if entry.message.role is Role.USER and (
            at + 1 == len(whole) or whole[at + 1].message.role is not Role.USER
        ):
            requests.append(ground.request()["messages"])


def _append(ground: Ground, message: Mapping[str, Any]) -> None:
    blocks = blocks_of(message)
    if message["role"] == "assistant":
        ground.append(Role.ASSISTANT, Author.LLM, Kind.ANSWER, blocks)
    elif any(block["type"] == "tool_result" for block in blocks):
        ground.append(Role.USER, Author.TOOL, Kind.RESULTS, blocks)
    else:
        ground.append(Role.USER, Author.PERSON, Kind.SAY, blocks)


def trigger(ground: Ground, params: Mapping[str, Any]) -> None:
    """Where each configuration is worked on, in tokens."""
    given = params.get("configs") or params.get("configurations") or {"": params}
    named = given.items() if isinstance(given, Mapping) else [(one.get("name", ""), one) for one in given]
    for name, config in named:
        capability = Capability(
            llm="canned",
            context=int(config.get("window") or config.get("context") or 200_000),
            max_output=int(config.get("max_output") or config.get("max_tokens") or 8_000),
        )
        policy = policy_of({"trigger": config.get("trigger") or config.get("percent")})
        reserve = int(config.get("reserve") or config.get("output_reserve") or 0)
        policy = policy.changed(window={"reserve": reserve}) if reserve else policy
        ground.configs[str(name)] = int(policy.compact_at * limit_of(policy, capability))


def storage(ground: Ground, params: Mapping[str, Any]) -> None:
    """What a store takes in: each body once, compressed; a list of numbers for each edit; a row for each turn."""
    again = int(params.get("turns") or params.get("rounds") or 1)
    bodies: dict[bytes, bytes] = {}
    for message in ground.desk.window.messages.values():
        body = canonical(list(message.content))
        bodies[sha256(body).encode()] = zlib.compress(body, 3)
    ground.stored += [*bodies.values(), *[b" " * 200] * again]
