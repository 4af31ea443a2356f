"""A desk around a case's messages, and an llm that says what the case says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runs.engine import tokens
from runs.engine.assemble import shape_of, technique_named
from runs.engine.errors import Overloaded
from runs.engine.events import Delta, Event, Item, Note, Usage, Version, WindowEdited
from runs.engine.intake import sent_back
from runs.engine.llm.accumulate import usage_of
from runs.engine.llm.table import price
from runs.engine.memory import ManualClock, MemoryFiles, MemoryHistory
from runs.engine.messages import Author, Block, Kind, Message, Role, canonical, clean
from runs.engine.middleware.base import Desk, Numbers, Technique
from runs.engine.policy import Policy, preset
from runs.engine.ports import Answer, Cancel, Capability, Request
from runs.engine.window.gauge import Gauge, Measured
from runs.engine.window.lines import inner
from runs.engine.window.media import MOST_PICTURES
from runs.engine.window.render import Renderer, frame_of
from runs.engine.window.versions import Window

MAX_TOKENS = 1000
WINDOW = 200_000
FRAME_BYTES = 1_000
"""Of a request beside its messages: system prompt, tools, marks."""

SUMMARY = {"content": [{"type": "text", "text": "Summary: task and state."}], "stop_reason": "end_turn"}


@dataclass(slots=True)
class CannedLlm:
    """Answers summary requests with the case's replies, in their order; the last one again and again."""

    capability: Capability
    replies: Sequence[Mapping[str, Any]] = ()
    error: Mapping[str, Any] | None = None
    asked: list[Request] = field(default_factory=list)

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        self.asked.append(request)
        if self.error:
            yield Delta(text=self.error.get("after_text", ""))
            raise Overloaded(self.error["error"], status=529)
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        content = tuple(reply["content"])
        usage = Usage(input=len(request.body) // 4, output=tokens.of_content(content))
        yield Answer(content=content, stop_reason=reply["stop_reason"], usage=usage, first_token_ms=1, ms=1)

    def count(self, request: Request) -> int | None:
        return None


@dataclass(slots=True)
class Ground:
    """`prefixes`: what was sent at each step of a case; `paused`, `error`: why the run did not go on; `said`: what
    else was told; `configs`: where the trigger lies, by the name of a configuration."""

    desk: Desk
    llm: CannedLlm
    events: list[Event] = field(default_factory=list)
    prefixes: list[Any] = field(default_factory=list)
    stored: list[bytes] = field(default_factory=list)
    paused: str = ""
    error: str = ""
    said: list[str] = field(default_factory=list)
    configs: dict[str, int] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    broken: str = ""
    """The rule that a chain of acts broke."""

    def append(self, role: Role, author: Author, kind: Kind, content: Sequence[Block]) -> None:
        """One more message, in archive and window."""
        desk = self.desk
        message = _message(desk.numbers.message - 1, role, author, kind, desk.turn, content)
        assert isinstance(desk.history, MemoryHistory)
        desk.history.messages.append(message)
        desk.window.append(message)
        desk.numbers.message += 1

    def take(self, events: Iterator[Event]) -> None:
        for event in events:
            self.events.append(event)
            history = self.desk.history
            assert isinstance(history, MemoryHistory)
            if isinstance(event, WindowEdited):
                history.messages.extend(event.edit.added)

    def technique(self, name: str) -> Any:
        technique: Technique = technique_named(name)()
        technique.start(self.desk)
        return technique

    def request(self, turn: int = 1) -> dict[str, Any]:
        """The body that would be sent now; what had to be repaired is told."""
        desk = self.desk
        rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), turn)
        self.said += [line for line in rendered.repairs if line not in self.said]
        body: dict[str, Any] = json.loads(rendered.request.body)
        return body


def lay(
    messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any], replies: Sequence[Any] = ()
) -> Ground:
    """The case's messages as an archive and a window, under a policy with the case's numbers."""
    archived = archive_of(messages)
    window = int(params.get("window") or WINDOW)
    context = int(params.get("summariser_window") or window + MAX_TOKENS)
    thinking = str(params.get("thinking") or "none")
    capability = Capability(
        llm="canned", context=context, max_output=MAX_TOKENS, thinking=thinking, price=price(5, 25)
    )
    error = params.get("summary_error")
    llm = CannedLlm(
        capability,
        replies or [params.get("summary_reply") or SUMMARY],
        {"error": error} if isinstance(error, str) else error,
    )
    policy = policy_of(params)
    given = params.get("system") or "You are an agent."
    system = given if isinstance(given, str) else "\n".join(block["text"] for block in given)
    frame = frame_of(
        llm="canned",
        system=system,
        tools=tools_of(messages, params),
        params={"max_tokens": MAX_TOKENS},
        shape=replace(shape_of(policy, window), **limits_of(messages, params)),
    )
    items = tuple(Item(message=message.number) for message in archived)
    desk = Desk(
        slug="r-case0",
        policy=policy,
        limit=window,
        frame=frame,
        window=Window(Version(number=1, parent=0, edit=0, base=len(archived), items=items), archived),
        gauge=Gauge(frame=frame),
        renderer=Renderer("r-case0"),
        llm=llm,
        workspace=Path(),
        files=MemoryFiles(),
        history=MemoryHistory(list(archived)),
        clock=ManualClock(),
        cancel=Cancel(),
        turn=sum(message.kind is Kind.ANSWER for message in archived),
        notes=notes_of(params),
        numbers=Numbers(message=len(archived) + 1, version=2),
    )
    ground = Ground(desk, llm)
    measure(ground, params.get("usage") or [])
    return ground


def limits_of(messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> dict[str, int]:
    """How many pictures a request may have, and what they may weigh: what the rest of it leaves of its bytes."""
    pictures = int(params.get("max_images") or MOST_PICTURES)
    if not params.get("max_request_bytes"):
        return {"pictures": pictures}
    heavy = [
        part
        for block in all_blocks(messages)
        for part in (block, *inner(block))
        if part["type"] in ("image", "document")
    ]
    media = sum(len((block.get("source") or {}).get("data") or "") for block in heavy)
    rest = len(canonical(clean(list(messages)))) - media + FRAME_BYTES
    return {"pictures": pictures, "picture_bytes": max(0, int(params["max_request_bytes"]) - rest)}


def policy_of(params: Mapping[str, Any]) -> Policy:
    trigger = params.get("trigger")
    sections: dict[str, Any] = {"compact": {"min_new_turns": 1}}
    if trigger:
        sections["window"] = {"mark": trigger, "hard": max(trigger, 0.95)}
    if params.get("trigger_tokens") and "keep" in params:
        window = int(params.get("window") or WINDOW)
        sections["window"] = {"mark": params["trigger_tokens"] / window, "hard": 0.95}
        sections["clear"] = {"keep": params["keep"]}
    if params.get("budget_usd"):
        sections["valves"] = {"usd": params["budget_usd"]}
    if params.get("limit_tokens"):
        sections["offload"] = {"result_tokens": params["limit_tokens"], "result_share": 1.0}
    return preset("default").changed(**sections)


def tools_of(messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> list[Block]:
    """The tools the case names, else those its calls use: a run always has the tools it called."""
    given = params.get("tools") or [
        {"name": name, "input_schema": {"type": "object"}} for name in params.get("tools_before") or []
    ]
    names = {tool["name"] for tool in given}
    used = {
        block["name"] for message in messages for block in blocks_of(message) if block["type"] == "tool_use"
    }
    plain = [{key: value for key, value in tool.items() if key != "cache_control"} for tool in given]
    return plain + [{"name": name, "input_schema": {"type": "object"}} for name in sorted(used - names)]


def notes_of(params: Mapping[str, Any]) -> dict[int, Note]:
    rows = enumerate(params.get("todo") or [], start=1)
    return {
        number: Note(
            number=number,
            revision=1,
            section="pending",
            text=text,
            state="done" if state == "done" else "open",
            author="llm",
            by="",
            turn=1,
        )
        for number, (text, state) in rows
    }


def archive_of(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """A foreign list as our archive: results and what a person wrote become messages of their own."""
    out: list[Message] = []
    turn = 0
    for message in messages:
        if message["role"] == "assistant":
            turn += 1
            out.append(_message(len(out), Role.ASSISTANT, Author.LLM, Kind.ANSWER, turn, blocks_of(message)))
            continue
        results = [block for block in blocks_of(message) if block["type"] == "tool_result"]
        written = [block for block in blocks_of(message) if block["type"] != "tool_result"]
        if results:
            out.append(_message(len(out), Role.USER, Author.TOOL, Kind.RESULTS, turn, results))
        if written or not results:
            kind = Kind.SAY if any(known.kind is Kind.GOAL for known in out) else Kind.GOAL
            out.append(_message(len(out), Role.USER, Author.PERSON, kind, turn, written))
    return out


def _message(
    before: int, role: Role, author: Author, kind: Kind, turn: int, content: Sequence[Block]
) -> Message:
    return Message(number=before + 1, role=role, author=author, kind=kind, turn=turn, content=tuple(content))


def blocks_of(message: Mapping[str, Any]) -> list[Block]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    return clean(blocks)


def measure(ground: Ground, usages: Sequence[Mapping[str, Any]]) -> None:
    """Lay the last usage of the run itself on the gauge; usage of a child is not the parent's."""
    own = [usage for usage in usages if not usage.get("parent")]
    if not own:
        return
    desk, usage = ground.desk, usage_of(own[-1])
    at = own[-1].get("at_message")
    upto = desk.window.upto if at is None else int(at)
    desk.gauge.last = Measured(version=1, upto=upto, prompt=usage.prompt)
    if at is not None:
        desk.gauge.known[int(at) + 1] = sent_back(usage, ground.llm.capability)


def all_blocks(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        yield from blocks_of(message)
