"""The end of a call: what the llm sees of it, and what the archive keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import tokens
from .events import CallEnded, CallStatus, PlannedCall
from .messages import Author, Block, Kind, Message, Role
from .middleware.base import Desk
from .ports import ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A call as the archive has it when a run is taken up: its result where it ended, else when it was begun."""

    result: Block | None = None
    started: str = ""


def ended(desk: Desk, call: PlannedCall, result: ToolResult, ms: int) -> CallEnded:
    block = result_block(call.id, result)
    status = CallStatus(result.status)
    if result.is_error and status is CallStatus.DONE:
        status = CallStatus.ERROR
    return CallEnded(
        turn=desk.turn,
        call=call,
        status=status,
        result=block,
        ms=ms,
        bytes=result.raw_bytes or len(str(block["content"]).encode("utf-8", "replace")),
        tokens=round(tokens.of_block(block) * desk.gauge.ratio),
        also=result.events,
    )


def result_block(call_id: str, result: ToolResult) -> Block:
    """The tool_result as the llm sees it; never blank, for the API refuses that."""
    content: Any = result.content if isinstance(result.content, str) else list(result.content)
    if not content or (isinstance(content, str) and not content.strip()):
        content = "(no output)"
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if result.is_error:
        block["is_error"] = True
    return block


def skipped(why: str) -> ToolResult:
    return ToolResult(content=why, is_error=True, status=CallStatus.SKIPPED.value)


def killed() -> ToolResult:
    why = "Killed: the run was stopped while this call ran. It may have partly finished: check before you repeat it."
    return ToolResult(content=why, is_error=True, status=CallStatus.KILLED.value)


def results_message(desk: Desk, results: Sequence[Block]) -> Message:
    """All results of a turn as the archive's next message."""
    return Message(
        number=desk.numbers.message,
        role=Role.USER,
        author=Author.TOOL,
        kind=Kind.RESULTS,
        turn=desk.turn,
        content=tuple(results),
        tokens=round(tokens.of_content(results) * desk.gauge.ratio),
    )
