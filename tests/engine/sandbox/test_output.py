"""Head, tail, spill and cap of what a command prints."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runs.engine.sandbox.output import Collector


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(1, 20), st.integers(1, 20))
def test_head_tail_and_omitted_add_up_to_the_total(pieces: list[bytes], head: int, tail: int) -> None:
    collector = Collector(head=head, tail=tail, cap=500)
    for piece in pieces:
        collector.feed(piece)
    whole = b"".join(pieces)[:500]
    assert collector.total == len(whole)
    assert collector.omitted == max(0, len(whole) - head - tail)
    assert collector.full == (len(whole) == 500)
    if not collector.omitted:
        assert collector.text() == whole.decode("utf-8", "replace")


def test_short_output_needs_no_file(tmp_path: Path) -> None:
    collector = Collector(tmp_path / "output", head=4, tail=4)
    collector.feed(b"12345678")
    collector.close()
    assert (collector.text(), collector.spill, collector.omitted) == ("12345678", None, 0)
    assert not (tmp_path / "output").exists()


def test_the_file_holds_everything_however_it_came(tmp_path: Path) -> None:
    collector = Collector(tmp_path / "output", head=4, tail=4)
    pieces = [b"12", b"345", b"6789", b"", b"abcdefghijkl", b"m"]
    for piece in pieces:
        collector.feed(piece)
    collector.close()
    assert (tmp_path / "output").read_bytes() == b"".join(pieces)
    assert collector.text() == "1234\n[… 14 bytes omitted …]\njklm"


def test_a_cut_never_shows_half_a_character() -> None:
    collector = Collector(head=4, tail=4)
    collector.feed("a漢漢漢漢漢b".encode())
    assert collector.text() == "a漢\n[… 9 bytes omitted …]\n漢b"


def test_nothing_is_kept_past_the_cap(tmp_path: Path) -> None:
    collector = Collector(tmp_path / "output", head=2, tail=2, cap=10)
    collector.feed(b"x" * 8)
    assert not collector.full
    collector.feed(b"y" * 8)
    collector.feed(b"z" * 8)
    collector.close()
    assert collector.full
    assert (tmp_path / "output").read_bytes() == b"x" * 8 + b"yy"
