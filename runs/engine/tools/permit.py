"""The one place that decides whether a tool call may run. Toolbox.run is all that runs one."""

from __future__ import annotations

MOST_CALLS = 32
"""Calls of one turn that run; the rest are answered with `skipped`."""


def may_run(stop_reason: str, *, ended: bool = True, at: int = 0) -> bool:
    """Whether a call of an answer may run; `at` is its place among the answer's calls, from 0.

    Only when the llm stopped in order to call tools and the stream ended with message_stop (`ended`; an Answer always
    did). A cut call parses like a whole one, {"path": "/tmp/a"} of {"path": "/tmp/a", "content": …, so nothing of such
    an answer runs.
    """
    return ended and stop_reason == "tool_use" and at < MOST_CALLS
