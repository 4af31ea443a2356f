"""Server-sent events, however their bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.engine.llm.sse import Reader


def read(*pieces: bytes) -> list[str]:
    reader = Reader()
    return [data for piece in pieces for data in reader.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        ("event: ping\ndata: {}\n\n", ["{}"]),
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
        ("data: at the end\r\r", ["at the end"]),
        ("data: one\ndata: two\n\n", ["one\ntwo"]),
        ("data:  two blanks\n\n", [" two blanks"]),
        ("data:none\n\n", ["none"]),
        (": a remark\nid: 7\nretry: 3\ndata: x\n\n", ["x"]),
        ("event: nothing\n\n\n\n", []),
        ("data: not yet over\n", []),
        ("database: x\n\n", []),
        ("data: a\u2028b\u0085c\x0bd\n\n", ["a\u2028b\u0085c\x0bd"]),
    ],
)
def test_the_data_of_each_event_that_is_over_is_told(stream: str, told: list[str]) -> None:
    assert read(stream.encode()) == told


def test_bytes_that_are_no_text_stand_for_themselves() -> None:
    assert read(b"data: a\xff\xfeb\n\n") == ["a\ufffd\ufffdb"]


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(
    st.lists(st.sampled_from(["data: x", "data: ü😀", "event: e", "", "", "\r", "\n", "\r\n", "\n\n"])),
    st.lists(st.integers(0, 80)),
)
def test_where_the_bytes_are_cut_makes_no_difference(parts: list[str], cuts: list[int]) -> None:
    whole = "".join(parts).encode() + b"\n\n"
    at = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in zip(at, at[1:], strict=False)]
    assert read(*pieces) == read(whole) == read(*(bytes([byte]) for byte in whole))
