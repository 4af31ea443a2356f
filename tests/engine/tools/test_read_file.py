"""read_file: pages that, put together, are the file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.engine.tokens import estimate
from runs.engine.tools import pages
from runs.engine.tools.pages import NoSuchPlace, page_of

from .conftest import Bench

GO_ON = re.compile(r"go on with offset=(\d+)(?:, column=(\d+))?$")


def read_all(bench: Bench, path: str, limit: int = pages.LINES) -> str:
    """Follow the first line of each page to the end, as an llm would."""
    parts, offset, column = [], 1, 1
    while True:
        title, _, text = bench.says(
            "read_file", path=path, offset=offset, limit=limit, column=column
        ).partition("\n")
        assert len(text) <= pages.CHARACTERS
        parts.append(text)
        found = GO_ON.search(title)
        if not found:
            return "".join(parts)
        offset, column = int(found[1]), int(found[2] or 1)


def test_a_small_file_comes_whole(bench: Bench) -> None:
    bench.make("src/a.py", "one\ntwo\n")
    assert bench.says("read_file", path="src/a.py") == "src/a.py: lines 1-2 of 2; the end\none\ntwo\n"


def test_a_part_says_where_to_go_on(bench: Bench) -> None:
    bench.make("a", "".join(f"line {number}\n" for number in range(1, 11)))
    assert (
        bench.says("read_file", path="a", offset=3, limit=2)
        == "a: lines 3-4 of 10; go on with offset=5\nline 3\nline 4\n"
    )


def test_an_empty_file_is_called_empty(bench: Bench) -> None:
    bench.make("a")
    assert bench.says("read_file", path="a") == "a: empty file\n"


def test_a_page_has_a_limit_of_characters(bench: Bench) -> None:
    content = "".join("x" * 99 + "\n" for _ in range(900))
    bench.make("a", content)
    assert bench.says("read_file", path="a").startswith("a: lines 1-300 of 900; go on with offset=301\n")
    assert read_all(bench, "a") == content


def test_a_huge_line_is_paged_by_characters(bench: Bench) -> None:
    content = "short\n" + "é" * 70_000 + "\nlast"
    bench.make("a", content)
    assert "lines 1-1 of 3; go on with offset=2" in bench.says("read_file", path="a")
    assert "line 2 of 3, characters 1-30000; go on with offset=2, column=30001" in bench.says(
        "read_file", path="a", offset=2
    )
    assert read_all(bench, "a") == content


@pytest.mark.parametrize(
    "content", ["Zm9vYmFyMTIz" * 9_000, "你好，世界。\n" * 9_000, "plain words here\n" * 9_000]
)
def test_a_page_is_never_so_dense_that_it_would_be_offloaded(bench: Bench, content: str) -> None:
    bench.page_tokens = 3_000
    bench.make("a", content)
    assert 2_000 < estimate(bench.says("read_file", path="a")) <= 3_000
    assert read_all(bench, "a") == content


@pytest.mark.parametrize("dense", ["😀", "漢", "Zm9vYmFyMTIz"])
def test_a_small_window_gets_small_pages(bench: Bench, dense: str) -> None:
    bench.page_tokens = 500
    bench.make("a", dense * 3_000)
    assert estimate(bench.says("read_file", path="a")) <= 500
    assert read_all(bench, "a") == dense * 3_000


def test_the_runs_files_are_read_in_the_same_way(bench: Bench) -> None:
    content = "y" * 100_000
    bench.files.write("result.txt", content)
    assert read_all(bench, "@run/result.txt") == content
    assert "has no file" in bench.refuses("read_file", path="@run/other.txt")


lines = st.lists(st.text(st.sampled_from("ab é漢\t\r\u2028\x0c"), max_size=40), max_size=12)


@given(lines, st.booleans(), st.integers(1, 5), st.integers(5, 60))
def test_pages_put_together_are_the_text(parts: list[str], ends: bool, limit: int, characters: int) -> None:
    text = "\n".join(parts) + ("\n" if ends and parts else "")
    shown, offset, column = [], 1, 1
    while offset:
        page = page_of(text, offset=offset, limit=limit, column=column, characters=characters)
        assert len(page.text) <= characters
        shown.append(page.text)
        offset, column = page.next_line, page.next_column
    assert "".join(shown) == text


def test_places_behind_the_end_are_told(bench: Bench) -> None:
    bench.make("a", "one\ntwo")
    assert "it has 2 lines, so there is no line 3" in bench.refuses("read_file", path="a", offset=3)
    assert "line 2 has 3 characters" in bench.refuses("read_file", path="a", offset=2, column=4)
    with pytest.raises(NoSuchPlace):
        page_of("x", offset=2)


def test_a_file_that_is_no_text_is_refused_with_a_way_to_look_at_it(bench: Bench) -> None:
    bench.make("a.bin", b"\x7fELF\x00\x01")
    assert "no text (6 bytes). Look at it with run_command" in bench.refuses("read_file", path="a.bin")


def test_bytes_that_are_no_utf8_become_visible(bench: Bench) -> None:
    bench.make("a", b"caf\xe9\n")
    assert bench.says("read_file", path="a").endswith("caf\ufffd\n")


def test_a_file_over_the_cap_is_refused(bench: Bench) -> None:
    target = bench.make("big")
    with target.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    assert "more than the 67,108,864" in bench.refuses("read_file", path="big")


def test_a_missing_file_or_a_folder_is_refused(bench: Bench) -> None:
    bench.make("folder/x")
    assert bench.refuses("read_file", path="none") == "There is no `none`. list_files shows what there is."
    assert "is a folder" in bench.refuses("read_file", path="folder")
