"""Taking in an answer: what of it may stand in the archive, and which of its calls may run."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from . import tokens
from .events import PlannedCall, Usage
from .messages import UNREADABLE, Author, Block, Counted, Kind, Message, Role, as_it_came, calls_of, clean
from .middleware.base import Desk
from .ports import Answer, Capability
from .tools import Toolbox, may_run
from .window.tidy import with_known_keys

CUT = ("max_tokens", "model_context_window_exceeded")


MOST_ID, MOST_NAME = 100, 100
"""Characters of a call's id and of its tool's name; the API takes more, the archive's columns do not."""

_NOT_THE_APIS = re.compile(r"[^a-zA-Z0-9_-]")
_SENT_BACK = frozenset(
    {
        "text", "tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_result",
        "container_upload", "compaction", "fallback",
    }
)  # fmt: skip
_OF_SERVERS = "_tool_result"
"""The end of the types of results that the provider's own tools leave in an answer (web_search_tool_result)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The blocks that are kept, and the calls among them that run. Empty content: nothing may be kept. `repairs` say
    what could not stand as it came, once for each kind."""

    content: tuple[Block, ...]
    calls: tuple[PlannedCall, ...]
    repairs: tuple[str, ...] = ()


def take(answer: Answer, toolbox: Toolbox, used: Collection[str], turn: int, run: str) -> Taken:
    """Calls of a cut or refused answer are dropped (they may be half); what the API would refuse to be sent back is
    put right: ids the run has used or that are none, names, keys and types nobody knows, an input that is no object."""
    permit = may_run(answer.stop_reason, calls_of(answer.content), ended=True)
    content: list[Block] = []
    calls: list[PlannedCall] = []
    repairs: list[str] = []
    seen: set[str] = set()
    as_it_came = True
    for raw, block in zip(answer.content, clean(answer.content), strict=True):
        as_it_came = as_it_came and not repairs
        if block["type"] == "thinking" and block.get("signature") and (block != raw or not as_it_came):
            repairs.append(
                "thinking is not sent back: it, or what stood before it, could not stay as it came"
            )
            block = {**block, "signature": ""}
        if block["type"] == "text" and not block["text"].strip():
            as_it_came = False
            continue
        as_it_came = as_it_came and block == raw
        if not _is_known(block["type"]):
            repairs.append(f"a block of the type {block['type'][:40]!r} was left out of an answer")
            continue
        block = with_known_keys(block, repairs)
        if block["type"] == "tool_use":
            if not permit.run:
                continue
            block = _with_object(_named(_unique(block, used, seen, repairs), repairs))
            calls.append(toolbox.plan(turn, run, block))
        content.append(block)
    kept = _without_last_thoughts(content)
    return Taken(content=kept, calls=tuple(calls), repairs=tuple(dict.fromkeys(repairs)))


def _is_known(kind: str) -> bool:
    return kind in _SENT_BACK or (kind.endswith(_OF_SERVERS) and kind != "tool_result")


def _unique(block: Block, used: Collection[str], seen: set[str], repairs: list[str]) -> Block:
    """A fresh id where the llm used one twice, in this answer (`seen`) or before: two results for one id are refused
    for ever after."""
    given = str(block["id"])
    plain = _NOT_THE_APIS.sub("_", given)[:MOST_ID]
    chosen, count = plain, 1
    while chosen in seen or chosen in used or not chosen:
        count += 1
        chosen = f"{plain or 'call'}_{count}"
    seen.add(chosen)
    if chosen == given:
        return block
    repairs.append(f"the call {given[:40]!r} stands as {chosen[:60]!r}: its id was used before, or is none")
    return {**block, "id": chosen}


def _named(block: Block, repairs: list[str]) -> Block:
    """A name that the API would refuse names no tool of ours either: the llm is told so under a name that passes."""
    given = str(block["name"])
    chosen = _NOT_THE_APIS.sub("_", given)[:MOST_NAME] or "unnamed"
    if chosen == given:
        return block
    repairs.append(f"the tool's name {given[:40]!r} stands as {chosen[:40]!r}")
    return {**block, "name": chosen}


def _with_object(block: Block) -> Block:
    """An input that is no object is marked as unreadable: its tool refuses it, whatever it would take."""
    given = block.get("input")
    return block if isinstance(given, Mapping) else {**block, "input": {UNREADABLE: given}}


def _without_last_thoughts(content: Sequence[Block]) -> tuple[Block, ...]:
    """An answer of nothing but thinking says nothing; thinking at the end of one led to what was cut or blank. Neither
    may be sent back."""
    kept = list(content)
    while kept and kept[-1]["type"] in ("thinking", "redacted_thinking"):
        kept.pop()
    return tuple(kept)


def original(answer: Answer, kept: tuple[Block, ...]) -> str:
    """The whole answer as it came, in JSON, where not all of it is kept as it is; '' where the message says it all."""
    return answer.raw or ("" if kept == answer.content else as_it_came(answer.content))


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
