"""What all tools share: the strict input model and the two ways to answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from runs.engine.ports import ToolResult


class Given(BaseModel):
    """Base of every tool's Input: an unknown key is refused, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def refused(sentence: str) -> ToolResult:
    """A result that says what was wrong and what to do instead."""
    return ToolResult(content=sentence, is_error=True, status="error")


def plural(count: int, word: str) -> str:
    """1 line, 2 lines."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
