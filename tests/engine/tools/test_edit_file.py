"""edit_file: one passage, exactly once."""

from __future__ import annotations

import pytest

from .conftest import Bench


def test_one_passage_is_replaced(bench: Bench) -> None:
    target = bench.make("a.py", "one\ntwo\nthree\n")
    assert bench.says("edit_file", path="a.py", old="two\n", new="2\n2.5\n") == (
        "Edited a.py: at line 2, 1 line became 2."
    )
    assert target.read_text() == "one\n2\n2.5\nthree\n"


def test_an_empty_new_deletes(bench: Bench) -> None:
    target = bench.make("a", "one\ntwo\n")
    assert bench.says("edit_file", path="a", old="one\n", new="").endswith("at line 1, 1 line became 0.")
    assert target.read_text() == "two\n"


def test_a_passage_that_is_not_there_is_answered_with_the_nearest_line(bench: Bench) -> None:
    target = bench.make("a", "def total(orders):\n    return sum(orders)\n")
    said = bench.refuses("edit_file", path="a", old="def total(order):", new="x")
    assert said == (
        "a was not changed: `old` was not found. The nearest line is line 1: 'def total(orders):'. "
        "Copy the passage as it stands."
    )
    assert target.read_text() == "def total(orders):\n    return sum(orders)\n"
    assert "nothing like it" in bench.refuses("edit_file", path="a", old="ZZZZQQQQ", new="x")


def test_a_passage_that_is_there_often_is_answered_with_its_lines(bench: Bench) -> None:
    bench.make("a", "x = 1\ny\nx = 1\nx = 1\n")
    said = bench.refuses("edit_file", path="a", old="x = 1", new="x = 2")
    assert "found 3 times (lines 1, 3, 4)" in said
    bench.make("a", "x\n" * 9)
    assert "found 9 times (lines 1, 2, 3, 4, 5, …)" in bench.refuses("edit_file", path="a", old="x", new="z")


def test_what_was_replaced_already_is_told(bench: Bench) -> None:
    bench.make("a", "new text\n")
    assert "`new` already stands there" in bench.refuses(
        "edit_file", path="a", old="old text", new="new text"
    )


def test_nothing_to_change_is_told(bench: Bench) -> None:
    bench.make("a", "x")
    assert "are the same" in bench.refuses("edit_file", path="a", old="x", new="x")
    assert "min_length" not in bench.refuses("edit_file", path="a", old="", new="x")


def test_a_second_try_does_not_insert_twice(bench: Bench) -> None:
    target = bench.make("a", "import os\n")
    given = {"path": "a", "old": "import os", "new": "import os\nimport sys"}
    for _ in range(3):
        assert not bench.call("toolu_same", "edit_file", given).is_error
    assert target.read_text() == "import os\nimport sys\n"


def test_a_worker_that_died_before_the_edit_was_made_makes_it_now(bench: Bench) -> None:
    from runs.engine.messages import sha256
    from runs.engine.spool import Spool
    from runs.engine.tools import key_of

    target = bench.make("a", "import os\n")
    Spool(bench.spool).intend(key_of("r-abcde", bench.turn, "toolu_same"), sha256(b"import os\nimport sys\n"))
    bench.call("toolu_same", "edit_file", {"path": "a", "old": "import os", "new": "import os\nimport sys"})
    assert target.read_text() == "import os\nimport sys\n"


def test_another_call_with_the_same_input_is_an_edit_of_its_own(bench: Bench) -> None:
    target = bench.make("a", "x\n")
    for _ in range(2):
        bench.says("edit_file", path="a", old="x\n", new="x\ny\n")
    assert target.read_text() == "x\ny\ny\n"


@pytest.mark.parametrize("content", [b"one\r\ntwo\r\nthree\r\n", b"caf\xe9\r\none\r\ntwo\r\n"])
def test_windows_line_ends_and_foreign_bytes_stay(bench: Bench, content: bytes) -> None:
    target = bench.make("a", content)
    bench.says("edit_file", path="a", old="one\ntwo", new="1\n2")
    assert target.read_bytes() == content.replace(b"one\r\ntwo", b"1\r\n2")


def test_missing_files_and_files_of_the_run_are_refused(bench: Bench) -> None:
    assert "There is no `none`" in bench.refuses("edit_file", path="none", old="x", new="y")
    assert "can only be read" in bench.refuses("edit_file", path="@run/a", old="x", new="y")
