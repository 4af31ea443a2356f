"""The shell: run_command, in the sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from runs.engine.errors import NotRun
from runs.engine.events import Effect
from runs.engine.messages import clean
from runs.engine.ports import Execution, ToolContext, ToolResult
from runs.engine.spool import Spool

from .base import Given, plural, refused

USUAL = 120
LONGEST = 600
COMMAND_BYTES = 100_000
"""The system takes at most 128 KiB in one argument."""


class RunCommand:
    name = "run_command"
    effect = Effect.EFFECTFUL
    description = (
        "Run a command with bash in the workspace: tests, programs, git, and what the file tools cannot do. "
        "There is no network and no standard input; only the workspace and /tmp can be written, and /tmp is "
        "empty again next time. Back come the exit code, the time, the size of the output, and the output "
        "(standard output and error in the order they were written; of long output the first and last "
        f"16,000 bytes). After `timeout` seconds (default {USUAL}, at most {LONGEST}) the command and "
        "everything it started is killed, so nothing can be left running in the background."
    )

    class Input(Given):
        command: Annotated[str, Field(min_length=1, description="The command line, for bash -c.")]
        timeout: Annotated[float, Field(gt=0, le=LONGEST, description="Seconds until it is killed.")] = USUAL

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if why := context.sandbox.available():
            return refused(f"The command was not run. {why}")
        if len(given.command.encode()) > COMMAND_BYTES:
            return refused(
                f"The command is longer than {COMMAND_BYTES:,} bytes. Write it to a file with write_file and run that."
            )
        try:
            execution = context.sandbox.run(
                given.command,
                context.workspace,
                timeout=given.timeout,
                key=context.key,
                cancel=context.cancel,
                spool=context.spool,
            )
        except NotRun as error:
            return refused(f"The command was not run. {error}")
        return result_of(execution, context)


def outcome_of(key: str, context: ToolContext) -> ToolResult | None:
    """What a command came to whose worker stopped before it could say so; None where it did not end."""
    execution = Spool(context.spool).outcome(key) if context.spool else None
    return None if execution is None else result_of(execution, replace(context, key=key))


def result_of(execution: Execution, context: ToolContext) -> ToolResult:
    """How a command ended, as the llm reads it. An exit code other than 0 is an answer, not an error."""
    ended = f"exit code {execution.exit_code}" if execution.status == "done" else execution.status
    size = f"{plural(execution.total, 'byte')}, {execution.omitted:,} omitted"
    lines = [f"{ended} · {execution.ms / 1000:.1f} s · {size}"]
    if execution.status != "done":
        lines.append(_cure(execution))
    elif execution.reason:
        lines.append(execution.reason)
    if execution.spill:
        lines.append(f"The whole output: read_file {_kept(execution.spill, context)}")
    return ToolResult(
        content="\n".join([*lines, execution.output]).rstrip("\n"),
        is_error=execution.status != "done",
        status=execution.status,
        raw_bytes=execution.total,
        spill=execution.spill,
    )


def _kept(spill: Path, context: ToolContext) -> str:
    """Long output among the run's files, where read_file pages through it."""
    name = f"output/{context.key[:16]}.txt"
    context.files.write(name, clean(spill.read_bytes().decode("utf-8", "replace")))
    return f"@run/{name}"


def _cure(execution: Execution) -> str:
    if execution.status == "timeout":
        return (
            f"Killed: {execution.reason}. Run less of it, or give a longer timeout (at most {LONGEST}). "
            "What it wrote until then is still there."
        )
    return f"Killed: {execution.reason}. What it wrote until then is still there."
