"""One message of a request, and what it says of itself: each fact is worked out once, however often it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..messages import Block, Role, canonical


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
    def pictures(self) -> list[Block]:
        """Its own, then those inside its results."""
        within = [part for block in self.blocks for part in inner(block)]
        return [block for block in (*self.blocks, *within) if block["type"] == "image"]

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
