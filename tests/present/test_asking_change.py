"""What a call would change, against the file as it is: told before it is allowed, and so is that it would fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.present import asking_change
from runs.present.asking_change import Change
from runs.present.diff_text import Side

LINES = [f"line {number}" for number in range(1, 41)]


def write(text: bytes | str, folder: Path) -> None:
    (folder / "a.txt").write_bytes(text.encode() if isinstance(text, str) else text)


def change(folder: Path, name: str = "write_file", **given: object) -> Change:
    found = asking_change.change(folder, name, {"path": "a.txt", **given})
    assert found is not None
    return found


def shown(found: Change) -> list[str]:
    return [f"{line.sign}{line.text}" for line in found.lines]


def test_a_written_file_shows_what_differs_and_three_lines_around(tmp_path: Path) -> None:
    write("\n".join(LINES) + "\n", tmp_path)
    after = [*LINES[:19], "another line", *LINES[20:]]
    found = change(tmp_path, content="\n".join(after) + "\n")
    assert shown(found) == [
        " line 17",
        " line 18",
        " line 19",
        "-line 20",
        "+another line",
        " line 21",
        " line 22",
        " line 23",
    ]
    assert (found.first, found.came, found.gone, found.note) == (17, 1, 1, "")


def test_an_edit_is_shown_in_its_place(tmp_path: Path) -> None:
    write("def f():\n    return 1\n", tmp_path)
    found = change(tmp_path, "edit_file", old="return 1", new="return 2")
    assert shown(found) == [" def f():", "-    return 1", "+    return 2"]
    (gone,) = [line for line in found.lines if line.side is Side.GONE]
    assert [span.text for span in gone.spans if span.changed] == ["1"]


def test_lines_that_repeat_are_not_counted_twice(tmp_path: Path) -> None:
    write("a\na\na\n", tmp_path)
    assert (change(tmp_path, content="a\na\n").gone, change(tmp_path, content="a\n" * 4).came) == (1, 1)


@pytest.mark.parametrize(("old", "says"), [("gone", "was not found"), ("line 1", "was found 11 times")])
def test_an_edit_that_would_fail_says_so(tmp_path: Path, old: str, says: str) -> None:
    write("\n".join(LINES), tmp_path)
    found = change(tmp_path, "edit_file", old=old, new="x")
    assert (found.wrong, found.lines) == (True, ())
    assert says in found.note


def test_a_file_that_is_not_there_is_new_to_write_and_wrong_to_edit(tmp_path: Path) -> None:
    assert change(tmp_path, content="x").note == asking_change.NEW
    assert change(tmp_path, "edit_file", old="x", new="y").wrong


@pytest.mark.parametrize("path", ["../b.txt", "/etc/passwd", "", "link"])
def test_nothing_outside_the_workspace_is_read(tmp_path: Path, path: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "b.txt").write_text("secret")
    (work / "link").symlink_to(tmp_path / "b.txt")
    found = change(work, path=path, content="x")
    assert (found.wrong, found.lines) == (True, ())
    assert "secret" not in found.note


def test_what_lines_do_not_show_is_said(tmp_path: Path) -> None:
    write("a\r\nb\r\n", tmp_path)
    assert change(tmp_path, content="a\nb\n").note == "Line ends change: CR LF to LF."
    assert change(tmp_path, content="a\r\nb").note == "Line ends change, and nothing else."
    assert change(tmp_path, content="a\r\nb\r\n").note == asking_change.SAME


def test_what_cannot_be_compared_is_shown_whole_and_says_why(tmp_path: Path) -> None:
    write("\n".join(str(number) for number in range(900)), tmp_path)
    found = change(tmp_path, content="\n".join(str(-number) for number in range(1, 1900)))
    assert (found.lines, found.note.startswith("900 lines become 1,899")) == ((), True)
    write(b"\xff\xfe\x00", tmp_path)
    assert change(tmp_path, content="x").note == asking_change.NOT_TEXT
    assert change(tmp_path / "elsewhere", content="x").note == asking_change.ELSEWHERE


@pytest.mark.parametrize("given", [{"content": 5}, {"path": None, "content": "x"}, {}])
def test_an_input_that_the_tool_refuses_is_no_change(tmp_path: Path, given: dict[str, object]) -> None:
    assert asking_change.change(tmp_path, "write_file", {"path": "a.txt", **given}) is None


def test_other_tools_change_no_file_that_is_known_before(tmp_path: Path) -> None:
    assert asking_change.change(tmp_path, "run_command", {"command": "rm a.txt"}) is None
