"""The file tools: list_files, read_file, write_file. (edit_file: edits.py, search_files: searching.py)"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from runs.engine.events import Effect
from runs.engine.ports import ToolContext, ToolResult
from runs.engine.tokens import estimate, fits

from .base import Given, plural, refused
from .beneath import PathTrouble, parts_of, root
from .listing import tree_of
from .pages import CHARACTERS, LINES, NoSuchPlace, Page, page_of

RUN_FILES = "@run/"
SPOOL = "exec/"
BINARY_LOOK = 8192
TITLE = 40
"""Tokens left for the line above a page."""

LEAST = 100
"""Characters that a page may always have."""

PathInput = Annotated[str, Field(min_length=1, max_length=4096, description="Relative to the workspace.")]


class ListFiles:
    name = "list_files"
    effect = Effect.PURE
    description = (
        "List a folder of the workspace with everything below it, and the size of each file. Use it first, "
        "to see what there is. Folders of tools (.git, node_modules, virtual environments) are named but "
        "not opened. `@run/` lists the run's own files: long results that were put there."
    )

    class Input(Given):
        path: Annotated[str, Field(max_length=4096, description="A folder, relative to the workspace.")] = "."

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if f"{given.path.strip()}/".startswith(RUN_FILES):
            names = [name for name in sorted(context.files.names()) if not name.startswith(SPOOL)]
            lines = [f"{RUN_FILES}{name}" for name in names] or ["No files of the run yet."]
            return ToolResult(content="\n".join(lines))
        try:
            parts = parts_of(given.path)
            with root(context.workspace) as workspace, workspace.folder(parts) as folder:
                listing = tree_of(folder, "".join(f"{part}/" for part in parts))
        except PathTrouble as error:
            return refused(str(error))
        lines = list(listing.lines) or ["The folder is empty."]
        if listing.left_out:
            lines.append(f"… and {listing.left_out:,} more: list one of the folders.")
        return ToolResult(content="\n".join(lines))


class ReadFile:
    name = "read_file"
    effect = Effect.PURE
    description = (
        "Read a text file of the workspace, exactly as it stands. The first line of the result says which "
        f"lines it shows and how to go on; a page has at most {LINES:,} lines and 30,000 characters. Read "
        "only what you need: search_files finds the line, `offset` and `limit` read around it. Paths that "
        "begin with `@run/` are files of the run, where long results were put; they are read in the same "
        "way."
    )

    class Input(Given):
        path: PathInput
        offset: Annotated[int, Field(ge=1, description="First line to show, from 1.")] = 1
        limit: Annotated[int, Field(ge=1, le=LINES, description="How many lines to show.")] = LINES
        column: Annotated[
            int, Field(ge=1, description="First character of that line, for very long lines.")
        ] = 1

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        try:
            text = _text(given.path, context)
            page = self._page(text, given, context.page_tokens)
        except PathTrouble as error:
            return refused(str(error))
        except NoSuchPlace as error:
            return refused(f"`{given.path}` cannot be shown from there: {error}. Choose an earlier place.")
        return ToolResult(content=f"{page.title(given.path)}\n{page.text}", raw_bytes=len(text))

    def _page(self, text: str, given: Input, most: int) -> Page:
        """A page that stays in the window: what is dense in tokens gets fewer characters."""
        characters = CHARACTERS
        while True:
            page = page_of(
                text, offset=given.offset, limit=given.limit, column=given.column, characters=characters
            )
            if not most or characters <= LEAST or fits(page.text, most - TITLE):
                return page
            size = estimate(page.text) + TITLE
            characters = max(LEAST, int(len(page.text) * 0.9 * most / size))


class WriteFile:
    name = "write_file"
    effect = Effect.IDEMPOTENT
    description = (
        "Write a whole text file of the workspace: a new one, or in place of the old one. Missing folders "
        "are made. To change a part of a file use edit_file. Back comes what was written and whether it "
        "replaced something."
    )

    class Input(Given):
        path: PathInput
        content: Annotated[str, Field(max_length=4_000_000, description="The whole content of the file.")]

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if is_of_run(given.path):
            return refused(
                f"`{given.path}` is a file of the run and can only be read. Write into the workspace."
            )
        data = given.content.encode()
        try:
            with root(context.workspace) as workspace:
                before = workspace.write(given.path, data)
        except PathTrouble as error:
            return refused(str(error))
        size = f"{plural(len(data), 'byte')}, {plural(len(given.content.splitlines()), 'line')}"
        if before is None:
            return ToolResult(content=f"Wrote {given.path}: {size}, a new file.")
        same = "the same as before" if before == data else f"in place of {plural(len(before), 'byte')}"
        return ToolResult(content=f"Wrote {given.path}: {size}, {same}.")


def is_of_run(path: str) -> bool:
    return path.strip().startswith("@run")


def _text(path: str, context: ToolContext) -> str:
    """The text of a file of the workspace or the run. PathTrouble with a sentence where there is none."""
    if is_of_run(path):
        return _text_of_run(path.strip(), context)
    with root(context.workspace) as workspace:
        data = workspace.read(path)
    if b"\0" in data[:BINARY_LOOK]:
        raise PathTrouble(
            f"`{path}` is no text ({plural(len(data), 'byte')}). Look at it with run_command (file, xxd)."
        )
    return data.decode("utf-8", "replace")


def _text_of_run(path: str, context: ToolContext) -> str:
    name = "/".join(parts_of(path.removeprefix("@run").lstrip("/")))
    try:
        text = context.files.read(name) if name else None
    except ValueError:
        text = None
    if text is None:
        raise PathTrouble(f"The run has no file `{path}`. list_files with path `@run/` shows which it has.")
    return text
