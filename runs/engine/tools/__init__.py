"""The tools of an agent: one family a file, each tool a class with name, description, effect, Input and run.

files.py      list_files, read_file, write_file      edits.py    edit_file
searching.py  search_files (seeker.py does it)       shell.py    run_command
notes.py      take_note, update_note, read_notes     recall.py   recall, read_archive
beneath.py    opens paths safely under a folder      pages.py    cuts texts into pages
listing.py    the tree of a folder                   base.py     strict inputs, refusals
permit.py     may_run: decides whether calls run     toolbox.py  Toolbox: plans and runs them
"""

from __future__ import annotations

from runs.engine.ports import Tool

from .edits import EditFile
from .files import ListFiles, ReadFile, WriteFile
from .permit import Permit, may_run
from .searching import SearchFiles
from .shell import RunCommand
from .toolbox import Toolbox, key_of

__all__ = ["Permit", "RunCommand", "Toolbox", "key_of", "may_run", "standard"]


def standard() -> tuple[Tool, ...]:
    """The tools every agent has. Notes and recall come with their techniques."""
    return (ListFiles(), ReadFile(), WriteFile(), EditFile(), SearchFiles(), RunCommand())
