"""The ground of a run under construction: its claim, its window, and the values a turn is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from runs.engine import events as ev
from runs.engine import tokens
from runs.engine.messages import Author, Counted, Kind, Message, Role, canonical, sha256, text
from runs.engine.policy import preset
from runs.engine.window.forms import Shape
from runs.engine.window.gauge import Gauge
from runs.engine.window.render import Renderer, frame_of
from runs.engine.window.versions import Entry, Window, entries
from runs.models import Run
from runs.store import archive, lease
from tests import story

SHAPE = Shape(
    result_tokens=3600,
    message_tokens=7200,
    head_lines=12,
    tail_lines=12,
    key_lines=4,
    exclude=("take_note", "recall"),
)
PRICE = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
"""Microdollars a token."""


@dataclass(slots=True, kw_only=True)
class Ground:
    """A claimed run with the engine's own window, gauge and renderer."""

    run: Run
    claim: lease.Claim
    limit: int
    window: Window
    frame: ev.Frame
    gauge: Gauge
    renderer: Renderer
    turn: int = 0
    message: int = 1
    edits: int = 0
    version: int = 1
    episodes: int = 0
    notes: list[ev.Note] = field(default_factory=list)
    cleared: bool = False

    @classmethod
    def start(cls, owner: Any, *, limit: int, goal: str, title: str, llm: str) -> Self:
        first = Message(
            number=1,
            role=Role.USER,
            author=Author.PERSON,
            kind=Kind.GOAL,
            turn=0,
            content=(text(goal),),
            tokens=tokens.estimate(goal) + tokens.PER_BLOCK,
            by=owner.username,
        )
        policy = preset("demo").changed(window={"limit": limit}).model_dump(mode="json")
        new = archive.NewRun(
            owner_id=owner.pk,
            goal=first,
            title=title,
            llm=llm,
            workspace="/home/ada/invoices",
            slug=archive.new_slug(),
            policy=policy,
            limit=limit,
        )
        run = archive.create(new)
        claim = lease.claim(run.pk, "worker-1")
        assert claim is not None
        frame = frame_of(
            llm=llm, system=story.SYSTEM, tools=story.TOOLS, params={"max_tokens": 2048}, shape=SHAPE
        )
        version = ev.Version(number=1, parent=0, edit=0, base=1, items=(ev.Item(message=1),))
        window = Window(version, [first])
        gauge = Gauge(frame=frame)
        return cls(
            run=run,
            claim=claim,
            limit=limit,
            window=window,
            frame=frame,
            gauge=gauge,
            renderer=Renderer(run.slug),
        )

    def _message(
        self,
        role: Role,
        author: Author,
        kind: Kind,
        content: Sequence[Any],
        by: str = "",
        counted: Counted = Counted.ESTIMATE,
    ) -> Message:
        self.message += 1
        return Message(
            number=self.message,
            role=role,
            author=author,
            kind=kind,
            turn=self.turn,
            content=tuple(content),
            tokens=tokens.of_content(content),
            counted=counted,
            by=by,
        )

    def _planned(self, call: story.Call, at: int) -> ev.PlannedCall:
        made = f"toolu_{self.turn:04d}{at:02d}"
        return ev.PlannedCall(
            id=made,
            name=call.name,
            input=call.input,
            input_sha256=sha256(canonical(call.input)),
            effect=story.EFFECTS[call.name],
            key=sha256(f"{self.run.slug}:{self.turn}:{made}".encode()),
        )

    def _ended(self, call: ev.PlannedCall, given: story.Call) -> ev.CallEnded:
        size = len(given.result.encode())
        return ev.CallEnded(
            turn=self.turn,
            call=call,
            status=ev.CallStatus.ERROR if given.error else ev.CallStatus.DONE,
            result=result_of(call, given),
            ms=3 + size % 900,
            bytes=size,
            tokens=tokens.estimate(given.result),
        )

    def _note(self, note: tuple[str, str]) -> ev.Note:
        number = len(self.notes) + 1
        section, words = note
        return ev.Note(
            number=number,
            revision=1,
            section=section,
            text=words,
            state="open",
            author="llm",
            by="",
            turn=self.turn,
        )

    def _usage(self, answer: Message) -> tuple[ev.Usage, int]:
        """What the provider would count: all but the tail from the cache, unless an edit has just rewritten it."""
        whole = self._read().tokens
        last = self.gauge.last
        known = last.prompt if last and last.version == self.window.version.number else int(whole * 0.3)
        read = min(known, whole - 2)
        usage = ev.Usage(
            input=2,
            cache_read=read,
            cache_write=whole - read - 2,
            output=answer.tokens,
            thinking=answer.tokens // 4,
        )
        return usage, cost_of(usage)

    def _read(self) -> Any:
        return self.gauge.read(self.window.version.number, self.window.upto, self._shown())

    def _shown(self) -> list[tuple[Entry, Any]]:
        listed = entries(self.window.version, self.window.messages, self.window.upto)
        calls = self.window.calls()
        return [(entry, self.renderer.blocks(self.frame, entry, SHAPE, calls)) for entry in listed]

    def _write(self, *events: ev.Event) -> int:
        return archive.append(self.claim, *events)


def result_of(call: ev.PlannedCall, given: story.Call) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": given.result}
    return {**block, "is_error": True} if given.error else block


def cost_of(usage: ev.Usage) -> int:
    paid = {"input": usage.input, "output": usage.output}
    paid |= {"cache_read": usage.cache_read, "cache_write": usage.cache_write}
    return round(sum(PRICE[name] * count for name, count in paid.items()))
