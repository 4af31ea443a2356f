"""search_files: lines by a regular expression."""

from __future__ import annotations

import threading
import time

import pytest

from runs.engine.tools import searching

from .conftest import Bench


def test_lines_come_with_their_place_in_order(bench: Bench) -> None:
    bench.make("b/x.py", "def total():\n    pass\n")
    bench.make("a.py", "no\ntotal = 1\n")
    assert bench.says("search_files", pattern=r"tot\w+").split("\n") == [
        "2 matching lines in 2 files",
        "a.py:2:total = 1",
        "b/x.py:1:def total():",
    ]


def test_a_path_narrows_to_a_folder_or_a_file(bench: Bench) -> None:
    bench.make("b/deep/x.py", "hit\n")
    bench.make("a.py", "hit\n")
    assert bench.says("search_files", pattern="hit", path="b").split("\n")[1:] == ["b/deep/x.py:1:hit"]
    assert bench.says("search_files", pattern="hit", path="a.py").split("\n")[1:] == ["a.py:1:hit"]
    assert bench.says("search_files", pattern="hit", path="b/deep/x.py").split("\n")[1:] == [
        "b/deep/x.py:1:hit"
    ]


def test_no_match_is_an_answer(bench: Bench) -> None:
    bench.make("a", "x")
    assert bench.says("search_files", pattern="y") == "No match."


def test_many_matches_are_counted_and_cut(bench: Bench) -> None:
    bench.make("a", "hit\n" * 500)
    lines = bench.says("search_files", pattern="hit").split("\n")
    assert lines[0] == "500 matching lines in 1 file, the first 200 shown: narrow the pattern or the path"
    assert len(lines) == 201


def test_a_long_line_is_shown_around_its_match(bench: Bench) -> None:
    bench.make("a", "x" * 5000 + "needle" + "y" * 5000)
    line = bench.says("search_files", pattern="needle").split("\n")[1]
    assert "needle" in line
    assert len(line) < 400
    assert line.startswith("a:1:…")
    assert line.endswith("…")


def test_binary_and_huge_files_and_folders_of_tools_are_passed_by(bench: Bench) -> None:
    bench.make("a.bin", b"hit\0")
    bench.make("huge", b"hit\n" * 2_000_000)
    bench.make(".git/config", "hit")
    bench.make("good", "hit")
    said = bench.says("search_files", pattern="hit")
    assert said.split("\n") == [
        "1 matching line in 1 file; 2 files not searched (binary, huge or a link)",
        "good:1:hit",
    ]


@pytest.mark.parametrize("pattern", ["(", "[a", "*x", "(?P<a>x)(?P<a>y)", "x{99999999999999999999}"])
def test_a_pattern_that_is_none_is_refused_with_the_way_to_write_it(bench: Bench, pattern: str) -> None:
    said = bench.refuses("search_files", pattern=pattern)
    assert "no regular expression" in said
    assert "For the plain text, write" in said


def test_a_pattern_that_takes_for_ever_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PATIENCE", 0.5)
    bench.make("a", "a" * 60 + "!")
    began = time.monotonic()
    assert "was stopped" in bench.refuses("search_files", pattern="(a+)+$")
    assert time.monotonic() - began < 10


def test_cancelling_ends_a_search(bench: Bench) -> None:
    bench.make("a", "a" * 60 + "!")
    timer = threading.Timer(0.3, bench.cancel, ["stopped by Ada"])
    timer.start()
    result = bench("search_files", pattern="(a+)+$")
    timer.join()
    assert (result.status, result.content) == ("killed", "Stopped: stopped by Ada.")


def test_a_path_that_is_not_there_is_refused(bench: Bench) -> None:
    assert "There is no `none`" in bench.refuses("search_files", pattern="x", path="none")
