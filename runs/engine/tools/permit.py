"""The one place that decides whether a tool call may run. Toolbox.run is all that runs one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.engine.messages import Block

MOST = 32
"""Calls of one turn that run; the rest are answered with `skipped`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """`run` may be executed, in this order; `skip` is answered without running. `why` speaks of `skip`."""

    run: tuple[Block, ...] = ()
    skip: tuple[Block, ...] = ()
    why: str = ""


def may_run(stop_reason: str, calls: Sequence[Block], *, ended: bool) -> Permit:
    """Which of an answer's tool_use blocks may run.

    Only when the llm stopped in order to call tools and the stream ended with message_stop (`ended`): a cut
    call parses like a whole one ({"path": "/tmp/a"} of {"path": "/tmp/a", "content": …), so nothing of such a
    message runs.
    """
    if not ended:
        return Permit(skip=tuple(calls), why="Not run: the answer broke off before its end.")
    if stop_reason != "tool_use":
        return Permit(
            skip=tuple(calls), why=f"Not run: the answer ended with {stop_reason}, not with tool_use."
        )
    why = f"Skipped: at most {MOST} calls run in one turn. Ask again for what is still needed."
    return Permit(run=tuple(calls[:MOST]), skip=tuple(calls[MOST:]), why=why if len(calls) > MOST else "")
