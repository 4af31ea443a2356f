"""Numbers are written one way everywhere, and what is not known is said."""

from __future__ import annotations

import pytest

from runs.present import numbers


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (950, "950"),
        (24_000, "24k"),
        (122_410, "122.4k"),
        (2_300_000, "2.3M"),
        (-1_500, "\u22121.5k"),
        (None, "unknown"),
    ],
)
def test_tokens_in_an_overview(value: int | None, said: str) -> None:
    assert numbers.kilo(value) == said


@pytest.mark.parametrize(
    ("micros", "said"),
    [
        (0, "$0.00"),
        (8_410_000, "$8.41"),
        (58_300, "$0.058"),
        (4_619, "$0.0046"),
        (-24_000, "\u2212$0.024"),
        (None, "unknown"),
    ],
)
def test_money(micros: int | None, said: str) -> None:
    assert numbers.usd(micros) == said


def test_a_share_that_is_something_is_never_zero_percent() -> None:
    assert numbers.percent(0.612) == "61 %"
    assert numbers.percent(0.001) == "< 1 %"
    assert numbers.percent(0) == "0 %"
    assert numbers.percent(None) == "unknown"


def test_times() -> None:
    assert [numbers.seconds(ms) for ms in (None, 12, 90, 9_700, 41_000, 190_000)] == [
        "",
        "",
        "0.1 s",
        "9.7 s",
        "41 s",
        "3 min",
    ]
    assert [numbers.span(s) for s in (42, 720, 6_720, 273_600)] == ["42 s", "12 min", "1 h 52 min", "3 d 4 h"]


def test_input_to_output() -> None:
    assert numbers.ratio(380, 10) == "38 : 1"
    assert numbers.ratio(9, 10) == "0.9 : 1"
    assert numbers.ratio(9, 0) == "unknown"
