"""The tools of one agent: their schemas, their calls planned and run. Nothing else executes a tool."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from runs.engine.errors import RunInterrupted
from runs.engine.events import Effect, PlannedCall
from runs.engine.messages import UNREADABLE, Block, canonical, clean, sha256
from runs.engine.ports import Tool, ToolContext, ToolResult, schema_of

from .base import refused
from .shell import outcome_of

UNKNOWN = (
    "Outcome unknown: the worker stopped while this call was running%s. It may have finished, partly "
    "finished or not run. Check the state before repeating it."
)
UNFIT = "The input does not fit"
"""How every complaint about an input begins."""

NO_OBJECT = "it is no JSON object"
MESSAGES = 3
"""How many complaints of the validator the llm is told."""


class Toolbox:
    """Tools in a fixed order: the same toolbox always gives the same bytes in a request."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("Two tools have one name.")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def schemas(self) -> tuple[Block, ...]:
        """The tools as the Messages API wants them, in the order in which they were given."""
        return tuple(schema_of(tool) for tool in self._tools.values())

    def plan(self, turn: int, run: str, block: Block) -> PlannedCall:
        """A tool_use block as a call: its effect, the hash of its input, and the key that names its
        execution.

        An unknown tool, or an input that could not be read, is planned as pure: the llm will only be told so.
        """
        given = block.get("input")
        tool = None if _is_unreadable(given) else self.get(str(block["name"]))
        return PlannedCall(
            id=str(block["id"]),
            name=str(block["name"]),
            input=given if isinstance(given, Mapping) else {},
            input_sha256=sha256(canonical(clean(given))),
            effect=tool.effect if tool else Effect.PURE,
            key=key_of(run, turn, str(block["id"])),
        )

    def run(self, call: PlannedCall, context: ToolContext) -> ToolResult:
        """Run a call that `may_run` let pass. Never raises for what the llm or a tool did wrong, only to stop
        a run.
        """
        tool = self.get(call.name)
        if tool is None:
            return refused(self._unknown(call.name))
        if _is_unreadable(call.input):
            return refused(_unfit(tool, NO_OBJECT))
        try:
            given = tool.Input.model_validate(clean(dict(call.input)))
        except ValidationError as error:
            return refused(_complaint(tool, error))
        try:
            result = tool.run(given, context)
        except RunInterrupted:
            raise
        except (Exception, SystemExit) as error:  # a tool's own mistake must reach the llm, not end the run
            result = refused(_failed(call.name, error))
        return replace(result, content=clean(result.content))

    def complaint(self, name: str, given: Mapping[str, Any]) -> str:
        """Why this input does not fit the tool, or ""."""
        tool = self.get(name)
        if tool is None:
            return self._unknown(name)
        if _is_unreadable(given):
            return _unfit(tool, NO_OBJECT)
        try:
            tool.Input.model_validate(clean(dict(given)))
        except ValidationError as error:
            return _complaint(tool, error)
        return ""

    def recovered(self, call: PlannedCall, context: ToolContext, started: str = "") -> ToolResult | None:
        """What to answer for a call whose worker stopped while it ran; None: run it again, same key.

        `started` is the time at which it began, as people read it.
        """
        outcome = outcome_of(call.key, context)
        if outcome is not None:
            return replace(outcome, content=clean(outcome.content))
        if call.effect is not Effect.EFFECTFUL:
            return None
        sentence = UNKNOWN % (f" (started {started})" if started else "")
        return ToolResult(content=sentence, is_error=True, status="unknown")

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.names, len(self.names), cutoff=0)
        rest = [other for other in self.names if other not in near]
        return f"There is no tool named {name[:100]!r}. The tools are: {', '.join([*near, *rest])}."


def key_of(run: str, turn: int, tool_use_id: str) -> str:
    """The name of one execution: the same call of the same turn always has the same key."""
    return sha256(canonical([run, turn, tool_use_id]))


def _is_unreadable(given: object) -> bool:
    return isinstance(given, Mapping) and UNREADABLE in given


def _complaint(tool: Tool, error: ValidationError) -> str:
    lines = [
        f"{'.'.join(map(str, found['loc'])) or 'input'}: {found['msg']}"
        for found in error.errors()[:MESSAGES]
    ]
    return _unfit(tool, "; ".join(lines))


def _unfit(tool: Tool, why: str) -> str:
    schema: Any = schema_of(tool)["input_schema"]
    return (
        f"{UNFIT} {tool.name}: {why}. Nothing was run. "
        f"Call it again with an input of this schema: {json.dumps(schema, ensure_ascii=False)}"
    )


def _failed(name: str, error: BaseException) -> str:
    said = str(error).strip().split("\n", 1)[0][:300] or "no reason given"
    return f"{name} failed ({type(error).__name__}: {said}). Try it another way, or with other input."
