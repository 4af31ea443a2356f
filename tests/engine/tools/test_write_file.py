"""write_file: whole files, in one step."""

from __future__ import annotations

import os

import pytest

from runs.engine.sandbox import owner

from .conftest import Bench

pytestmark = pytest.mark.usefixtures("either_way")


def test_a_new_file_and_its_folders_are_made(bench: Bench) -> None:
    said = bench.says("write_file", path="src/deep/a.py", content="one\ntwo\n")
    assert said == "Wrote src/deep/a.py: 8 bytes, 2 lines, a new file."
    assert (bench.workspace / "src/deep/a.py").read_text() == "one\ntwo\n"


def test_an_old_file_is_replaced_and_keeps_its_mode(bench: Bench) -> None:
    target = bench.make("run.sh", "old")
    target.chmod(0o755)
    assert (
        bench.says("write_file", path="run.sh", content="new!")
        == "Wrote run.sh: 4 bytes, 1 line, in place of 3 bytes."
    )
    assert target.read_text() == "new!"
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_second_try_comes_to_the_same(bench: Bench) -> None:
    given = {"path": "a", "content": "x"}
    bench.call("toolu_same", "write_file", given)
    again = bench.call("toolu_same", "write_file", given)
    assert again.content == "Wrote a: 1 byte, 1 line, the same as before."
    assert os.listdir(bench.workspace) == ["a"]


def test_the_text_is_written_as_it_is(bench: Bench) -> None:
    text = "tab\t\r\nno newline at end, ünï 漢 🎉 \u2028"
    bench.says("write_file", path="a", content=text)
    assert (bench.workspace / "a").read_bytes() == text.encode()


def test_what_no_text_can_hold_becomes_visible(bench: Bench) -> None:
    bench.says("write_file", path="a", content="nul\x00 half\ud800")
    assert (bench.workspace / "a").read_text() == "nul\u2400 half\ufffd"


def test_an_empty_file_may_be_written(bench: Bench) -> None:
    assert bench.says("write_file", path="a", content="") == "Wrote a: 0 bytes, 0 lines, a new file."


def test_a_file_of_the_run_cannot_be_written(bench: Bench) -> None:
    assert "can only be read" in bench.refuses("write_file", path="@run/a", content="x")


def test_a_folder_in_the_way_is_told(bench: Bench) -> None:
    bench.make("folder/x")
    assert "is a folder" in bench.refuses("write_file", path="folder", content="x")
    assert "names the workspace itself" in bench.refuses("write_file", path="./", content="x")
    assert sorted(os.listdir(bench.workspace)) == ["folder"]


def test_a_hard_link_is_not_written_through(bench: Bench) -> None:
    outside = bench.spool.parent / "outside.txt"
    outside.write_text("outside")
    os.link(outside, bench.workspace / "linked")
    bench.says("write_file", path="linked", content="inside")
    assert outside.read_text() == "outside"


def test_commands_can_change_what_the_tool_made(bench: Bench) -> None:
    assert "exit code 0" in bench.says("run_command", command="touch first")
    bench.says("write_file", path="made/by/tool.txt", content="one\n")
    assert "exit code 0" in bench.says(
        "run_command", command="echo two >> made/by/tool.txt && touch made/by/more"
    )
    assert (bench.workspace / "made/by/tool.txt").read_text() == "one\ntwo\n"


def test_what_a_root_worker_makes_belongs_to_the_workspaces_owner(bench: Bench) -> None:
    uid = 1234 if owner.is_root() else os.geteuid()
    os.chown(bench.workspace, uid, -1)
    bench.says("write_file", path="sub/a", content="x")
    assert {(bench.workspace / name).stat().st_uid for name in ("sub", "sub/a")} == {uid}
