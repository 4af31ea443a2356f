"""edit_file: replaces one passage of a file."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import Field

from runs.engine.events import Effect
from runs.engine.messages import sha256
from runs.engine.ports import ToolContext, ToolResult
from runs.engine.spool import Spool

from .base import Given, plural, refused
from .beneath import PathTrouble, root
from .files import PathInput, is_of_run

LOOKED_AT = 3_000
"""Lines compared when the nearest one is looked for; more would cost seconds."""


class NoSingleMatch(ValueError):
    """The passage is not there, or there more than once."""


class EditFile:
    """A second try with the same key sees, by the hash noted before the first, that the edit was made."""

    name = "edit_file"
    effect = Effect.IDEMPOTENT
    description = (
        "Replace one passage of a text file of the workspace. `old` must stand in the file exactly once, to "
        "the last space: copy it from read_file, with enough lines around it to be the only one. `new` "
        "takes its place; an empty `new` deletes it. Back comes the line where it was. When it fails "
        "nothing has changed, and the result says why."
    )

    class Input(Given):
        path: PathInput
        old: Annotated[str, Field(min_length=1, description="The passage to replace, exactly as it stands.")]
        new: Annotated[str, Field(max_length=4_000_000, description="What takes its place.")]

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if is_of_run(given.path):
            return refused(
                f"`{given.path}` is a file of the run and can only be read. Edit a file of the workspace."
            )
        if given.old == given.new:
            return refused(
                "`old` and `new` are the same, so there is nothing to change. Say what shall stand there."
            )
        try:
            with root(context.workspace) as workspace:
                before = workspace.read(given.path)
                if _is_made(before, context):
                    return ToolResult(content=f"Edited {given.path}.")
                after, line = edited(before, given)
                if context.spool:
                    Spool(context.spool).intend(context.key, sha256(after))
                workspace.write(given.path, after)
        except PathTrouble as error:
            return refused(str(error))
        except NoSingleMatch as error:
            return refused(f"{given.path} was not changed: {error}")
        lines = f"{plural(_lines(given.old), 'line')} became {_lines(given.new):,}"
        return ToolResult(content=f"Edited {given.path}: at line {line}, {lines}.")


def _is_made(before: bytes, context: ToolContext) -> bool:
    return context.spool is not None and Spool(context.spool).intended(context.key) == sha256(before)


def edited(before: bytes, given: EditFile.Input) -> tuple[bytes, int]:
    """(the file after the edit, the line of the passage). Bytes, so that what is no UTF-8 stays as it is.

    Raises NoSingleMatch, with the cause and the cure.
    """
    old, new = given.old.encode(), given.new.encode()
    if b"\r\n" in before and b"\r" not in old:
        old, new = old.replace(b"\n", b"\r\n"), new.replace(b"\n", b"\r\n")
    count = before.count(old)
    if count != 1:
        raise NoSingleMatch(_several(before, old, count) if count else _absent(before, given))
    return before.replace(old, new), before[: before.index(old)].count(b"\n") + 1


def _several(before: bytes, old: bytes, count: int) -> str:
    lines, start = [], 0
    for _ in range(min(count, 5)):
        start = before.index(old, start)
        lines.append(str(before[:start].count(b"\n") + 1))
        start += len(old)
    more = ", …" if count > 5 else ""
    return (
        f"`old` was found {count} times (lines {', '.join(lines)}{more}). "
        "Put more of the lines around it into `old`, so that it is the only one."
    )


def _absent(before: bytes, given: EditFile.Input) -> str:
    """Why the passage may be missing: it was replaced already, or it stands there slightly otherwise."""
    if given.new and given.new.encode() in before:
        return "`old` was not found, but `new` already stands there. If that is what you wanted, go on."
    lines = before.decode("utf-8", "replace").split("\n")
    wanted = max(given.old.split("\n"), key=lambda line: len(line.strip()))
    near = difflib.get_close_matches(wanted[:400], [line[:400] for line in lines[:LOOKED_AT]], 1, cutoff=0.5)
    if not near:
        return "`old` was not found, and nothing like it. Read the file again and copy the passage from it."
    number = next(number for number, line in enumerate(lines, 1) if line[:400] == near[0])
    return (
        f"`old` was not found. The nearest line is line {number}: {near[0]!r}. Copy the passage as it stands."
    )


def _lines(text: str) -> int:
    return len(text.splitlines())
