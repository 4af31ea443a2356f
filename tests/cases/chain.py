"""A window under a chain of acts; after each, W1-W12 are looked at. The first rule that is broken ends the chain.

An act is a mapping: `what` and what it takes, so that a chain can be written into a case file. `what`: turn (messages),
say (text), mark, compact (keep, method, reply), clear, clear_results (keep), clear_thinking (keep), offload,
pin, unpin and drop (at: an index into the window), undo (back: so many edits).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runs.engine.events import Form, Trigger, Version, WindowEdited
from runs.engine.memory import MemoryHistory
from runs.engine.messages import Author, Block, Kind, Role, canonical, sha256, text
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.middleware.pins import drop, pin, unpin
from runs.engine.middleware.undo import undo
from runs.engine.window.gauge import Gauge
from runs.engine.window.hands import Past, Unfit
from runs.engine.window.lines import Line
from runs.engine.window.render import model_view
from runs.engine.window.validate import problems as engine_problems
from runs.engine.window.versions import entries

from .ground import Ground, blocks_of
from .refusals import Bindings, refused

Act = Mapping[str, Any]
FAILING = ("failing", "empty", "tool", "cut", "refused", "thinking", "huge")
REPLIES: dict[str, tuple[list[Block], str]] = {
    "perfect": ([text("Turns were walked; KEY-12: value 7; next: go on.")], "end_turn"),
    "lossy": ([text("Some work was done.")], "end_turn"),
    "empty": ([], "end_turn"),
    "thinking": ([{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}], "end_turn"),
    "tool": ([{"type": "tool_use", "id": "z", "name": "read_file", "input": {}}], "tool_use"),
    "cut": ([text("It was a dark and")], "max_tokens"),
    "refused": ([text("I cannot.")], "refusal"),
    "huge": ([text("word " * 40_000)], "end_turn"),
}
LARGER = ("pin", "unpin", "undo")
"""Edits that may make a window larger: a person brings something back."""


class Broken(AssertionError):
    """A rule does not hold."""


def holds(condition: object, rule: str) -> None:
    if not condition:
        raise Broken(rule)


class Chain:
    """`seconds`: how long each act took, without the looking."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.versions: dict[int, Version] = {1: ground.desk.window.version}
        self.kinds: dict[int, str] = {}
        self.persons = self._spoken()
        self.pins: set[int] = set()
        self.bytes: dict[int, bytes] = {}
        self.seconds: list[float] = []
        self.bindings = Bindings()
        self.turns = 0
        self.spoken = 0
        self.was: dict[int, tuple[bytes, int, frozenset[int]]] = {}
        """Before the first edit of an act: what would be sent, how much had been said, the pins."""
        self._keep()
        self.bindings.take(ground.request())

    @property
    def bound(self) -> bool:
        return self.ground.llm.capability.thinking == "bound"

    def act(self, act: Act) -> None:
        desk, seen, held = self.ground.desk, len(self.ground.events), self.ground.desk.window.entries
        shown = {entry.message.number: self._sent(entry) for entry in held if entry.form is Form.FULL}
        was = (_unmarked(self.ground.request()), self.spoken, frozenset(self.pins))
        began = time.perf_counter()
        try:
            self._do(act)
        except Unfit:
            holds(desk.window.entries == held, "a refused edit changes nothing")
        self.seconds.append(time.perf_counter() - began)
        edits = [event.edit for event in self.ground.events[seen:] if isinstance(event, WindowEdited)]
        for edit in edits:
            self.versions[edit.after.number], self.kinds[edit.number] = edit.after, edit.kind
            smaller = edit.tokens_after < edit.tokens_before
            holds(smaller or edit.kind in LARGER, f"W9: {edit.kind} made the window no smaller")
            if edit.undoes in self.was:
                self._comes_back(edit.undoes)
        if edits:
            self.was[edits[0].number] = was
        if act["what"] == "compact" and act.get("reply") in FAILING and act.get("method") != "clear":
            holds(desk.window.entries == held, "W10: a failed summary changed the window")
        for entry in desk.window:
            number = entry.message.number
            if entry.form is Form.FULL and number in shown:
                holds(self._sent(entry) == shown[number], f"message {number} is not as it was")
        self._keep()
        self.look()

    def _comes_back(self, edit: int) -> None:
        """Where nothing was said and no pin was set since, an undo gives what was sent before, to the byte; only the
        cache marks follow what the llm's server has."""
        sent, spoken, pins = self.was[edit]
        if (spoken, pins) == (self.spoken, frozenset(self.pins)):
            holds(_unmarked(self.ground.request()) == sent, "an undo gives another window")

    def _do(self, act: Act) -> None:
        desk, what = self.ground.desk, act["what"]
        asked = Asked(
            trigger=Trigger.PERSON, keep=act.get("keep"), method=act.get("method", "summary"), by="Ada"
        )
        content, stop = REPLIES.get(act.get("reply", ""), REPLIES["lossy"])
        self.ground.llm.error = {"error": "overloaded"} if act.get("reply") == "failing" else None
        self.ground.llm.replies = [{"content": content, "stop_reason": stop}]
        at = desk.window.entries[act.get("at", 0) % len(desk.window.entries)].message.number
        match what:
            case "turn":
                self._turn(act["messages"])
            case "say":
                self.ground.append(Role.USER, Author.PERSON, Kind.SAY, [text(act["text"])])
                self.persons.append(act["text"])
                self.spoken += 1
            case "mark":
                desk.turn += 1
                for name in ("offload", "clear_thinking", "clear_results", "compact"):
                    self.ground.take(self.ground.technique(name).before_call(desk.window))
            case "clear":
                self.ground.take(clear(desk, asked))
            case "compact":
                self.ground.take(self.ground.technique("compact").compact(asked))
            case "clear_results" | "clear_thinking":
                self.ground.take(self.ground.technique(what).clear(asked))
            case "offload":
                self.ground.take(self.ground.technique("offload").after_turn(desk.window))
            case "pin" | "unpin" | "drop":
                self.ground.take({"pin": pin, "unpin": unpin, "drop": drop}[what](desk, asked, at))
                self.pins = {entry.message.number for entry in desk.window if entry.pinned}
            case "undo":
                self._undo(asked, act.get("back", 1))
            case _:
                raise Broken(f"no act {what!r}")

    def _turn(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """The llm has answered what stands in the window: its usage is known, its thinking is signed for it."""
        desk = self.ground.desk
        if desk.window.entries[-1].message.role is Role.ASSISTANT:
            self.ground.append(Role.USER, Author.PRODUCT, Kind.NOTICE, [text("Continue the work.")])
        sent = self.ground.request()
        desk.turn += 1
        self.turns += 1
        self.spoken += 1
        for message in messages:
            blocks = [_of_turn(block, self.turns) for block in blocks_of(message)]
            spoken = message["role"] == "assistant"
            if spoken:
                self.bindings.take(
                    {**sent, "messages": [*sent["messages"], {"role": "assistant", "content": blocks}]}
                )
            role, author, kind = (
                (Role.ASSISTANT, Author.LLM, Kind.ANSWER)
                if spoken
                else (Role.USER, Author.TOOL, Kind.RESULTS)
            )
            self.ground.append(role, author, kind, blocks)

    def _undo(self, asked: Asked, back: int) -> None:
        made = sorted(self.kinds)
        if not made:
            return
        edit = made[max(0, len(made) - back)]
        since = [version for version in self.versions.values() if version.edit >= edit]
        history = self.ground.desk.history
        assert isinstance(history, MemoryHistory)
        past = Past(
            before=self.versions[since[0].parent],
            made=tuple((version, self.kinds[version.edit]) for version in since),
            messages=tuple(history.messages),
        )
        self.ground.take(undo(self.ground.desk, asked, edit, past))

    def _sent(self, entry: Any) -> list[bytes]:
        desk = self.ground.desk
        return [
            canonical(block)
            for block in desk.renderer.blocks(desk.frame, entry, desk.shape, desk.window.calls())
        ]

    def _spoken(self) -> list[str]:
        said = [entry.message for entry in self.ground.desk.window if entry.message.is_persons]
        return [block["text"] for message in said for block in message.content if block["type"] == "text"]

    def _keep(self) -> None:
        history = self.ground.desk.history
        assert isinstance(history, MemoryHistory)
        for message in history.messages[len(self.bytes) :]:
            self.bytes[message.number] = canonical(list(message.content))

    def look(self) -> None:
        """Everything that must hold of what would be sent now."""
        desk = self.ground.desk
        rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 1)
        body = json.loads(rendered.request.body)
        wrong = refused(body)
        wrong += self.bindings.refused(body) if self.bound else []
        holds(not wrong, f"W1-W7: {wrong[:1]}")
        sent = [Line(role=Role(m["role"]), blocks=tuple(m["content"])) for m in body["messages"]]
        holds(engine_problems(sent) == [], "the product's own validator")
        holds(rendered.request.body == canonical(body), "the bytes are canonical")
        version, messages = desk.window.version, {m.number: m for m in desk.history.messages}  # type: ignore[attr-defined]
        shown = entries(version, messages, desk.window.upto)
        again = model_view(desk.frame, shown, list(messages.values()), desk.slug, 1)
        holds(again.request.body == rendered.request.body, "W12: rebuilt from the archive")
        self._person_stands(body)
        self._pins_stand(body)
        for number, data in self.bytes.items():
            holds(canonical(list(desk.history.message(number).content)) == data, f"W11: message {number}")
        holds(sha256(rendered.request.body) == rendered.request.sha256, "the hash is another body's")
        reading = desk.read()
        counted = Gauge(desk.frame, desk.gauge.last, desk.gauge.ratio, dict(desk.gauge.known))
        pairs = desk.with_blocks(desk.window.entries)
        holds(
            counted.read(version.number, desk.window.upto, pairs) == reading,
            "what is summed up is not what is there",
        )
        holds(sum(reading.parts.values()) == reading.tokens, "the parts do not add up")

    def _person_stands(self, body: Mapping[str, Any]) -> None:
        """W8: verbatim; the oldest as previews only beyond a tenth of the limit, the goal never."""
        users = [block for m in body["messages"] if m["role"] == "user" for block in m["content"]]
        texts = {block["text"] for block in users if block["type"] == "text"}
        previews = [
            entry
            for entry in self.ground.desk.window
            if entry.form is Form.PREVIEW and entry.message.kind is Kind.SAY
        ]
        missing = [words for words in self.persons if words.strip() and words not in texts]
        holds(len(missing) <= len(previews), f"W8: a person's words are gone: {missing[:1]}")
        holds(self.persons[0] not in missing, "W8: the goal is gone")

    def _pins_stand(self, body: Mapping[str, Any]) -> None:
        standing = {entry.message.number: entry for entry in self.ground.desk.window if entry.pinned}
        holds(set(standing) == self.pins, f"W8: pins {sorted(self.pins ^ set(standing))} are gone or new")
        data = _unmarked(body)
        for number in self.pins:
            for block in self.ground.desk.history.message(number).content:
                if block["type"] == "tool_use":
                    holds(canonical(_plain(block)) in data, f"W8: the pinned call {block['id']}")
                if (
                    block["type"] == "tool_result"
                    and isinstance(block["content"], str)
                    and block["content"].strip()
                ):
                    holds(canonical(_plain(block)) in data, f"W8: the pinned result {block['tool_use_id']}")


def _unmarked(body: Mapping[str, Any]) -> bytes:
    return canonical([[_plain(block) for block in m["content"]] for m in body["messages"]])


def _plain(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def _of_turn(block: Block, turn: int) -> Block:
    """The block with ids and signatures that no other turn of the chain has."""
    new = {key: f"{block[key]}_{turn}" for key in ("id", "tool_use_id", "signature") if block.get(key)}
    return {**block, **new}


def lay_chain(ground: Ground, params: Mapping[str, Any]) -> Ground:
    """The numbers under which chains are walked: small, so that everything comes about."""
    desk = ground.desk
    mark = {"window": {"mark": 0.5, "hard": 0.8}, "clear_thinking": {"frees": 0.01}}
    desk.policy = desk.policy.changed(**mark)
    ground.llm.capability = replace(ground.llm.capability, thinking=str(params.get("thinking") or "none"))
    return ground


def chain(ground: Ground, params: Mapping[str, Any]) -> None:
    """The operation of a case: its acts one after the other, until a rule is broken."""
    where = "at the start"
    try:
        walk = Chain(lay_chain(ground, params))
        walk.look()
        for at, act in enumerate(params["acts"]):
            where = f"act {at}, {act['what']}"
            walk.act(act)
    except Broken as broken:
        ground.broken = f"{where}: {broken}"
