"""list_files: what there is."""

from __future__ import annotations

from runs.engine.tools import listing

from .conftest import Bench


def test_the_whole_tree_with_sizes(bench: Bench) -> None:
    bench.make("b/deep/er.txt", "12345")
    bench.make("a.py", "x" * 1234)
    assert bench.says("list_files").split("\n") == [
        "a.py (1,234 bytes)",
        "b/",
        "b/deep/",
        "b/deep/er.txt (5 bytes)",
    ]


def test_paths_of_a_part_are_the_ones_to_read(bench: Bench) -> None:
    bench.make("b/deep/er.txt", "12345")
    assert bench.says("list_files", path="b/deep") == "b/deep/er.txt (5 bytes)"
    assert bench.says("list_files", path="./b/deep/") == "b/deep/er.txt (5 bytes)"
    assert bench.says("list_files", path="/workspace/b/deep") == "b/deep/er.txt (5 bytes)"


def test_an_empty_folder_says_so(bench: Bench) -> None:
    assert bench.says("list_files") == "The folder is empty."


def test_folders_of_tools_are_named_but_not_opened(bench: Bench) -> None:
    bench.make("node_modules/x/y.js")
    bench.make(".git/config")
    assert bench.says("list_files").split("\n") == [".git/ (not listed)", "node_modules/ (not listed)"]
    assert bench.says("list_files", path="node_modules") == "node_modules/x/\nnode_modules/x/y.js (0 bytes)"


def test_a_large_tree_shows_its_upper_levels_and_says_how_much_is_missing(bench: Bench) -> None:
    for folder in range(30):
        for file in range(30):
            bench.make(f"f{folder:02}/{file:02}.txt")
    lines = bench.says("list_files").split("\n")
    assert len(lines) == listing.MOST + 1
    assert [line for line in lines if line.endswith("/")] == [f"f{folder:02}/" for folder in range(30)]
    assert lines[-1] == f"… and {30 + 900 - listing.MOST} more: list one of the folders."


def test_a_file_or_a_missing_folder_is_refused(bench: Bench) -> None:
    bench.make("file", "x")
    assert "no folder" in bench.refuses("list_files", path="file")
    assert "There is no `none`" in bench.refuses("list_files", path="none")


def test_the_runs_own_files_are_listed_without_the_spool(bench: Bench) -> None:
    assert bench.says("list_files", path="@run/") == "No files of the run yet."
    for name in ("b.txt", "a.txt", "exec/abc"):
        bench.files.write(name, "x")
    assert bench.says("list_files", path="@run") == "@run/a.txt\n@run/b.txt"
