"""The calls of this script, shortly written."""

from __future__ import annotations

from ...script import Call, Need


def look(path: str = ".") -> Call:
    return Call(name="list_files", input={"path": path})


def read(path: str) -> Call:
    return Call(name="read_file", input={"path": path})


def search(pattern: str, path: str = ".") -> Call:
    return Call(name="search_files", input={"pattern": pattern, "path": path})


def run(command: str) -> Call:
    return Call(name="run_command", input={"command": command})


def write(path: str, content: str) -> Call:
    return Call(name="write_file", input={"path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    return Call(name="edit_file", input={"path": path, "old": old, "new": new})


def note(section: str, text: str) -> Call:
    return Call(name="take_note", input={"section": section, "text": text})


def settled(number: int, text: str = "") -> Call:
    """Close a note, with a last word on it."""
    given: dict[str, object] = {"number": number, "state": "done"}
    return Call(name="update_note", input=given | ({"text": text} if text else {}))


def notes() -> Call:
    return Call(name="read_notes", input={})


def recall(query: str) -> Call:
    return Call(name="recall", input={"query": query})


def needs(fact: str, by: Call) -> tuple[Need, ...]:
    return (Need(fact=fact, by=by),)
