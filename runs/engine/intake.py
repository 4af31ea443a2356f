"""Taking in an answer: what of it may stand in the archive, and which of its calls may run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from . import tokens
from .events import PlannedCall, Usage
from .messages import Author, Block, Counted, Kind, Message, Role, calls_of, clean
from .middleware.base import Desk
from .ports import Answer, Capability
from .tools import Toolbox, may_run

CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The blocks that are kept, and the calls among them that run. Empty content: nothing may be kept."""

    content: tuple[Block, ...]
    calls: tuple[PlannedCall, ...]


def take(answer: Answer, toolbox: Toolbox, used: Collection[str], turn: int, run: str) -> Taken:
    """Calls of a cut or refused answer are dropped (they may be half); ids the run has used get fresh ones, and an
    input that is no object becomes an empty one, which its tool then refuses: neither could be sent back as it is."""
    permit = may_run(answer.stop_reason, calls_of(answer.content), ended=True)
    content: list[Block] = []
    calls: list[PlannedCall] = []
    seen = set(used)
    for block in clean(answer.content):
        if block["type"] == "text" and not block["text"].strip():
            continue
        if block["type"] == "tool_use":
            if not permit.run:
                continue
            block = _with_object(_unique(block, seen))
            calls.append(toolbox.plan(turn, run, block))
        content.append(block)
    return Taken(content=_without_last_thoughts(content), calls=tuple(calls))


def _unique(block: Block, seen: set[str]) -> Block:
    """A fresh id where the llm used one twice: two results for one id are refused for ever after."""
    given = str(block["id"])
    chosen, count = given, 1
    while chosen in seen or not chosen:
        count += 1
        chosen = f"{given or 'call'}_{count}"
    seen.add(chosen)
    return block if chosen == given else {**block, "id": chosen}


def _with_object(block: Block) -> Block:
    return block if isinstance(block.get("input"), Mapping) else {**block, "input": {}}


def _without_last_thoughts(content: Sequence[Block]) -> tuple[Block, ...]:
    """An answer of nothing but thinking says nothing; thinking at the end of one led to what was cut or blank. Neither
    may be sent back."""
    kept = list(content)
    while kept and kept[-1]["type"] in ("thinking", "redacted_thinking"):
        kept.pop()
    return tuple(kept)


def is_cut(answer: Answer) -> bool:
    return answer.stop_reason in CUT


def sent_back(usage: Usage, capability: Capability) -> int:
    """Tokens of an answer in the next prompt. Only llms that preserve thinking get it back; others drop it."""
    keeps = capability.thinking in ("adaptive", "bound")
    return usage.output if keeps else max(1, usage.output - usage.thinking)


def message(desk: Desk, answer: Answer, content: tuple[Block, ...]) -> Message:
    """What is kept of an answer as the archive's next message; its tokens are told by usage where it is whole."""
    whole = len(content) == len(answer.content) and answer.usage.output > 0
    told = sent_back(answer.usage, desk.llm.capability)
    return Message(
        number=desk.numbers.message,
        role=Role.ASSISTANT,
        author=Author.LLM,
        kind=Kind.ANSWER,
        turn=desk.turn,
        content=content,
        tokens=told if whole else round(tokens.of_content(content) * desk.gauge.ratio),
        counted=Counted.USAGE if whole else Counted.ESTIMATE,
    )
