"""search_files: finds lines by a regular expression."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field

from runs.engine.events import Effect
from runs.engine.ports import Cancel, ToolContext, ToolResult

from .base import Given, plural, refused
from .beneath import PathTrouble, parts_of, root

SEEKER = Path(__file__).with_name("seeker.py")
MOST = 200
PATIENCE = 20.0


class SearchFiles:
    name = "search_files"
    effect = Effect.PURE
    description = (
        "Find lines in the workspace's text files by a regular expression (Python's syntax, within one "
        f"line). Back come at most {MOST} lines as `path:line:text`, and how many there are. Use it to find "
        "where something is before you read; `path` narrows it to a file or folder."
    )

    class Input(Given):
        pattern: Annotated[str, Field(min_length=1, max_length=2000, description="The regular expression.")]
        path: Annotated[str, Field(max_length=4096, description="A file or folder to search in.")] = "."

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        try:
            re.compile(given.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            cure = f"For the plain text, write {re.escape(given.pattern[:100])}"
            return refused(f"The pattern is no regular expression: {error}. {cure}")
        try:
            parts = parts_of(given.path)
            with root(context.workspace) as workspace:
                if parts and not workspace.is_folder(given.path):
                    workspace.read(given.path)
                return _search(workspace.descriptor, parts, given, context.cancel)
        except PathTrouble as error:
            return refused(str(error))


def _search(descriptor: int, parts: tuple[str, ...], given: SearchFiles.Input, cancel: Cancel) -> ToolResult:
    argv = [
        sys.executable,
        "-I",
        "-S",
        str(SEEKER),
        str(descriptor),
        json.dumps(parts),
        given.pattern,
        str(MOST),
    ]
    process = subprocess.Popen(
        argv,
        env={},
        pass_fds=(descriptor,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    forget = cancel.on_cancel(process.kill)
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return refused(
            f"The search took longer than {PATIENCE:g} s and was stopped. Narrow it with `path`, or write a "
            "simpler pattern, without a repeat inside a repeated group."
        )
    finally:
        forget()
    if cancel.reason:
        return ToolResult(content=f"Stopped: {cancel.reason}.", is_error=True, status="killed")
    if process.returncode != 0:
        return refused("The search could not be finished. Narrow it with `path`, or write a simpler pattern.")
    return _told(output.decode("utf-8", "replace").rstrip("\n").split("\n"))


def _told(lines: list[str]) -> ToolResult:
    counts = json.loads(lines.pop())
    passed = (
        f"; {plural(counts['skipped'], 'file')} not searched (binary, huge or a link)"
        if counts["skipped"]
        else ""
    )
    if not counts["matches"]:
        return ToolResult(content=f"No match{passed}.")
    found = f"{plural(counts['matches'], 'matching line')} in {plural(counts['files'], 'file')}"
    shown = f", the first {MOST} shown: narrow the pattern or the path" if counts["matches"] > MOST else ""
    return ToolResult(content="\n".join([f"{found}{shown}{passed}", *lines]))
