"""One message of a request, and what it says of itself: each fact is worked out once, however often it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..messages import Block, Role, canonical

SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
"""Calls that the provider has answered within the same message."""

BAD_NAME = re.compile(r"[^a-zA-Z0-9_-]")
"""What may stand neither in a call's id nor in a tool's name."""

_PERSONS = frozenset({"text", "tool_result", "image", "document", "search_result", "container_upload"})
_LLMS = frozenset(
    {"text", "tool_use", "thinking", "redacted_thinking", "container_upload", "compaction", "fallback"}
)
_RESULT_PARTS = ("text", "image", "document", "search_result", "tool_reference")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A role and its blocks, neither of which ever changes."""

    role: Role
    blocks: tuple[Block, ...]

    @cached_property
    def data(self) -> bytes:
        """Its canonical JSON, as a request holds it."""
        return canonical({"content": list(self.blocks), "role": self.role.value})

    @cached_property
    def calls(self) -> list[str]:
        """The ids of its calls, in their order."""
        return [str(block["id"]) for block in self.blocks if block["type"] == "tool_use"]

    @cached_property
    def results(self) -> list[str]:
        """The ids of the calls that it answers, in their order."""
        return [str(block["tool_use_id"]) for block in self.blocks if block["type"] == "tool_result"]

    @cached_property
    def results_first(self) -> bool:
        return all(block["type"] == "tool_result" for block in self.blocks[: len(self.results)])

    @cached_property
    def ends_in_thought(self) -> bool:
        """An answer whose last block is thinking leads nowhere, and is refused."""
        return self.role is Role.ASSISTANT and bool(self.blocks) and is_thinking(self.blocks[-1])

    @cached_property
    def proper_ids(self) -> bool:
        """Whether the API takes the ids of its calls, each for itself."""
        return all(call and not BAD_NAME.search(call) for call in self.calls)

    @cached_property
    def media(self) -> list[Block]:
        """Pictures and documents: its own, then those inside its results."""
        within = [part for block in self.blocks for part in inner(block)]
        return [block for block in (*self.blocks, *within) if block["type"] in ("image", "document")]

    @cached_property
    def marks(self) -> int:
        """Cache marks on its blocks."""
        return sum("cache_control" in block for block in self.blocks)

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """What the API would refuse of it, whatever stands around it; each begins where in the message it is."""
        return tuple(self._faults())

    def _faults(self) -> Iterator[str]:
        if not self.blocks:
            yield ": empty"
        for spot, block in enumerate(self.blocks):
            for part in (block, *inner(block)):
                if part["type"] == "text" and not part["text"].strip():
                    yield f".content.{spot}: blank text"
            if block["type"] == "thinking" and not block.get("signature"):
                yield f".content.{spot}: thinking without a signature"
            if not belongs(block, self.role) or strangers(block):
                yield f".content.{spot}: {block['type']} in a message of the {self.role.value}"
            if says_nothing(block):
                yield f".content.{spot}: an error without text"
            if block["type"] == "tool_use" and not _is_proper(block):
                yield f".content.{spot}: a call without a proper id, name or input"
        if not self.results_first:
            yield ": results must come first"
        if self.ends_in_thought:
            yield ": the final block of an answer cannot be thinking"


def is_thinking(block: Block) -> bool:
    return block["type"] in ("thinking", "redacted_thinking")


def inner(block: Block) -> Sequence[Block]:
    """The blocks inside a result."""
    content = block.get("content")
    return content if block["type"] == "tool_result" and isinstance(content, list | tuple) else ()


def is_server_result(block: Block) -> bool:
    """What the provider's own tools left in an answer (web_search_tool_result and its kind)."""
    return str(block["type"]).endswith("_tool_result")


def belongs(block: Block, role: Role) -> bool:
    """Whether the API takes a block of this type in a message of this role."""
    if role is Role.USER:
        return block["type"] in _PERSONS
    return block["type"] in _LLMS or block["type"] in SERVER_CALLS or is_server_result(block)


def strangers(block: Block) -> Sequence[Block]:
    """Parts of a result that the API does not take there."""
    return [part for part in inner(block) if part["type"] not in _RESULT_PARTS]


def says_nothing(block: Block) -> bool:
    """A result that is refused for its emptiness: an error must say something, and a text may not be blank."""
    if block["type"] != "tool_result":
        return False
    content = block.get("content")
    return (bool(block.get("is_error")) and not content) or (
        isinstance(content, str) and content != "" and not content.strip()
    )


def _is_proper(block: Block) -> bool:
    named = block["id"] and block["name"] and len(block["name"]) <= 128
    plain = not BAD_NAME.search(block["id"]) and not BAD_NAME.search(block["name"])
    return bool(named and plain and isinstance(block["input"], Mapping))
