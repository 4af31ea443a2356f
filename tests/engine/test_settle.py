"""The end of a call."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.events import CallStatus, NoteChanged, PlannedCall
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.ports import ToolResult
from runs.engine.settle import ended, killed, result_block, results_message, skipped
from runs.engine.tools import Toolbox, standard

from .stage import gave, laid, talk, use

CALL: PlannedCall = Toolbox(standard()).plan(1, "r-stage", use("a"))


@pytest.mark.parametrize("content", ["", "  \n", ()])
def test_a_blank_result_says_that_there_was_no_output(content: Any) -> None:
    assert result_block("a", ToolResult(content=content)) == gave("a", "(no output)")


def test_lists_and_errors_are_kept() -> None:
    result = ToolResult(content=(text("one"), text("two")), is_error=True)
    assert result_block("a", result) == gave("a", [text("one"), text("two")], error=True)


def test_an_error_has_the_status_of_one() -> None:
    desk = laid(talk(1)).desk
    late = ToolResult(content="late", is_error=True, status="timeout")
    assert ended(desk, CALL, ToolResult(content="no", is_error=True), 5).status is CallStatus.ERROR
    assert ended(desk, CALL, ToolResult(content="ok"), 5).status is CallStatus.DONE
    assert ended(desk, CALL, late, 5).status is CallStatus.TIMEOUT


def test_skipped_and_killed_are_errors_with_their_own_status() -> None:
    desk = laid(talk(1)).desk
    assert ended(desk, CALL, skipped("Skipped: why."), 0).status is CallStatus.SKIPPED
    end = ended(desk, CALL, killed(), 0)
    assert (end.status, end.result["is_error"]) == (CallStatus.KILLED, True)
    assert "partly finished" in end.result["content"]


def test_size_is_that_of_the_original_where_only_a_part_is_shown() -> None:
    desk = laid(talk(1)).desk
    assert ended(desk, CALL, ToolResult(content="häd"), 0).bytes == 4
    assert ended(desk, CALL, ToolResult(content="head", raw_bytes=5_000_000), 0).bytes == 5_000_000


def test_tokens_are_corrected_by_what_usage_taught() -> None:
    desk = laid(talk(1)).desk
    plain = ended(desk, CALL, ToolResult(content="lorem ipsum " * 50), 0).tokens
    desk.gauge.ratio = 1.5
    assert ended(desk, CALL, ToolResult(content="lorem ipsum " * 50), 0).tokens == pytest.approx(
        plain * 1.5, abs=1
    )


def test_what_the_tool_reported_travels_with_the_end() -> None:
    event = NoteChanged(note=None)  # type: ignore[arg-type]
    assert ended(laid(talk(1)).desk, CALL, ToolResult(content="ok", events=(event,)), 0).also == (event,)


def test_all_results_of_a_turn_are_the_next_message() -> None:
    desk = laid(talk(1)).desk
    message = results_message(desk, [gave("a", "one"), gave("b", "two")])
    assert (message.number, message.role, message.author, message.kind) == (
        4,
        Role.USER,
        Author.TOOL,
        Kind.RESULTS,
    )
    assert message.tokens > 0
