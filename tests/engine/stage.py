"""A stage for the engine: short words for messages, a desk around them, an agent whose llm says what a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from runs.engine import tokens
from runs.engine.assemble import Parts, assemble, shape_of
from runs.engine.events import Delta, Effect, Event, Item, Usage, Version
from runs.engine.loop import Agent
from runs.engine.memory import ManualClock, MemoryFiles, MemoryHistory
from runs.engine.messages import Author, Block, Kind, Message, Role, text, texts_of
from runs.engine.middleware.base import Numbers, Technique
from runs.engine.policy import Policy, preset
from runs.engine.ports import (
    Answer,
    Cancel,
    Capability,
    Price,
    Request,
    Sandbox,
    Tool,
    ToolContext,
    ToolResult,
)
from runs.engine.sandbox.none import Off
from runs.engine.window.render import frame_of
from tests.cases.ground import Ground, lay

from .strict import StrictArchive

PRICE = Price(
    input=5_000_000, output=25_000_000, cache_read=500_000, cache_write=6_250_000, cache_write_1h=10_000_000
)
GOAL = "Find the lamp that is missing. Do not touch migrations/."


def user(*blocks: Block | str) -> dict[str, Any]:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def bot(*blocks: Block | str) -> dict[str, Any]:
    return {**user(*blocks), "role": "assistant"}


def use(call_id: str, name: str = "read_file", **given: Any) -> Block:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {"path": f"{call_id}.py"}}


def gave(call_id: str, content: Any, *, error: bool = False) -> Block:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, "is_error": True} if error else block


def thought(words: str = "Hm.", signature: str = "c2ln") -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature}


def lines(tag: str, count: int) -> str:
    """Text of about 12 tokens a line, each line another."""
    return "\n".join(f"{tag} line {at} says corridor" for at in range(count))


def talk(turns: int, *, size: int = 20, thinking: bool = False, calls: int = 1) -> list[dict[str, Any]]:
    """The goal, then turns of calls that are all answered; `size` in lines a result."""
    spoken = [user(GOAL)]
    for turn in range(1, turns + 1):
        ids = [f"c{turn}_{at}" for at in range(calls)]
        thoughts = [thought(f"Turn {turn}.", f"sig{turn}")] if thinking else []
        spoken.append(bot(*thoughts, f"I look at part {turn}.", *(use(call) for call in ids)))
        spoken.append(user(*(gave(call, lines(call, size)) for call in ids)))
    return spoken


def laid(
    spoken: Sequence[Mapping[str, Any]],
    *,
    limit: int = 20_000,
    thinking: str = "none",
    replies: Sequence[Any] = (),
    **sections: Mapping[str, Any],
) -> Ground:
    """A desk around a conversation. `replies`: summaries as text, or whole replies of the llm."""
    told = [summary(reply) if isinstance(reply, str) else reply for reply in replies]
    ground = lay(spoken, {"window": limit}, told)
    desk = ground.desk
    desk.policy = preset("default").changed(**{"compact": {"min_new_turns": 1}, **sections})
    ground.llm.capability = replace(ground.llm.capability, thinking=thinking)
    old = desk.frame
    desk.frame = desk.gauge.frame = frame_of(
        llm=old.llm,
        system=texts_of(old.system),
        tools=old.tools,
        params=old.params["request"],
        shape=shape_of(desk.policy, limit),
    )
    return ground


def summary(words: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    return {"content": [text(words)], "stop_reason": stop_reason}


def said(ground: Ground, words: str) -> Message:
    """A person's message reaches the window of a desk, as the loop does it."""
    return add(ground, Role.USER, Author.PERSON, Kind.SAY, [text(words)])


def add(ground: Ground, role: Role, author: Author, kind: Kind, content: Sequence[Block]) -> Message:
    desk = ground.desk
    number = desk.numbers.message
    message = Message(
        number=number, role=role, author=author, kind=kind, turn=desk.turn, content=tuple(content)
    )
    assert isinstance(desk.history, MemoryHistory)
    desk.history.messages.append(message)
    desk.window.append(message)
    desk.numbers.message += 1
    return message


def measured(ground: Ground, prompt: int = 0) -> None:
    """The llm answers what is in the window now: its usage becomes the truth (as estimated when not given)."""
    desk = ground.desk
    usage = Usage(input=prompt or desk.gauge.estimate(desk.with_blocks(desk.window.entries)))
    desk.gauge.learn(
        desk.window.version.number, desk.window.upto, usage, desk.with_blocks(desk.window.entries)
    )


Step = Answer | Exception | Callable[[Request, Cancel], Answer]
"""What the llm does when it is asked: answer, fail, or look at the request first."""


def answer(*blocks: Block | str, stop: str = "", usage: Usage | None = None) -> Answer:
    content = tuple(user(*blocks)["content"])
    calls = any(block["type"] == "tool_use" for block in content)
    return Answer(
        content=content,
        stop_reason=stop or ("tool_use" if calls else "end_turn"),
        usage=usage or Usage(),
        first_token_ms=1,
        ms=2,
    )


@dataclass(slots=True)
class SaidLlm:
    """Does the steps in order. An answer without a usage gets one that fits the request."""

    steps: Iterable[Step]
    capability: Capability
    asked: list[Request] = field(default_factory=list)

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        self.asked.append(request)
        step = next(self._next)
        yield Delta(text="typing", turn=request.turn)
        if callable(step) and not isinstance(step, Exception):
            step = step(request, cancel)
        if isinstance(step, Exception):
            raise step
        output = tokens.of_content(step.content)
        usage = Usage(input=tokens.estimate(request.body.decode()), output=output)
        yield step if step.usage != Usage() else replace(step, usage=usage)

    def count(self, request: Request) -> int | None:
        return None

    _next: Iterator[Step] = field(init=False)

    def __post_init__(self) -> None:
        self._next = iter(self.steps)


class Extra(Technique):
    """A person's own technique: brings the tools of a test."""

    name = "extra"
    given: ClassVar[tuple[Tool, ...]] = ()

    def tools(self) -> Sequence[Tool]:
        return self.given


@dataclass(slots=True, kw_only=True)
class Probe:
    """A tool that counts how often it ran and does what the test wants."""

    name: str = "probe"
    description: str = "Tries something."
    effect: Effect = Effect.EFFECTFUL
    does: Callable[[ToolContext], ToolResult] = lambda context: ToolResult(content="done")
    ran: list[str] = field(default_factory=list)

    class Input(BaseModel):
        what: str = ""

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        self.ran.append(context.key)
        return self.does(context)


@dataclass(slots=True, kw_only=True)
class Play:
    """An agent, its llm, and an archive that accepts only what the real one would."""

    agent: Agent
    llm: SaidLlm
    archive: StrictArchive

    def turn(self) -> list[Event]:
        return self.take(self.agent.turn())

    def take(self, events: Iterable[Event]) -> list[Event]:
        """Every event is archived before the agent goes on."""
        taken = []
        for event in events:
            self.archive.append(event)
            taken.append(event)
        return taken

    def results(self) -> list[dict[str, Any]]:
        """The blocks of the newest message."""
        return [dict(block) for block in self.archive.history.messages[-1].content]

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.llm.asked]

    def window(self) -> list[dict[str, Any]]:
        """The messages that would be sent now."""
        desk = self.agent.desk
        rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), desk.turn + 1)
        messages: list[dict[str, Any]] = json.loads(rendered.request.body)["messages"]
        return messages


def play(
    *steps: Step,
    workspace: Path = Path("/nowhere"),
    limit: int = 20_000,
    thinking: str = "none",
    tools: Sequence[Tool] = (),
    policy: Policy | None = None,
    goal: str = GOAL,
    sandbox: Sandbox | None = None,
    **sections: Any,
) -> Play:
    """A fresh run whose llm does `steps`."""
    Extra.given = tuple(tools)
    chosen = policy or preset("default")
    techniques = (*chosen.techniques, f"{Extra.__module__}.Extra")
    chosen = chosen.changed(**{"techniques": techniques, "window": {"limit": limit}, **sections})
    capability = Capability(llm="said", context=limit + 1000, max_output=1000, thinking=thinking, price=PRICE)
    llm = SaidLlm(steps, capability)
    first = Message(
        number=1,
        role=Role.USER,
        author=Author.PERSON,
        kind=Kind.GOAL,
        turn=0,
        content=(text(goal),),
        by="Ada",
    )
    history = MemoryHistory([first])
    archive = StrictArchive(history)
    agent = assemble(
        Parts(
            slug="r-stage",
            policy=chosen,
            llm=llm,
            version=Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),)),
            messages=[first],
            workspace=workspace,
            files=MemoryFiles(),
            history=history,
            sandbox=sandbox or Off(why="no shell here"),
            clock=ManualClock(),
            cancel=Cancel(),
            numbers=Numbers(message=2, version=2),
        )
    )
    return Play(agent=agent, llm=llm, archive=archive)


def of(kind: type[Event], events: Iterable[Event]) -> list[Any]:
    """The events of a kind."""
    return [event for event in events if isinstance(event, kind)]
