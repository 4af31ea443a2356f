"""The text of an entry before and after: nothing is lost on either side, and what changed stands out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runs.present.diff_text import MAX_LINES, Side, cut, diff, identifiers, marked, one_sided

LINES = st.lists(st.sampled_from(["alpha", "beta 1", "beta 2", "", "gamma delta epsilon"]), max_size=30)


@given(LINES, LINES)
def test_the_lines_gone_and_kept_are_the_text_before_in_order(old: list[str], new: list[str]) -> None:
    lines = diff("\n".join(old), "\n".join(new))
    gone = [line.text for line in lines if line.side in (Side.GONE, Side.SAME)]
    came = [line.text for line in lines if line.side in (Side.NEW, Side.SAME)]
    if not any(line.side is Side.SKIP for line in lines):
        assert gone == "\n".join(old).splitlines()
        assert came == "\n".join(new).splitlines()


def test_only_the_words_that_changed_are_marked() -> None:
    gone, came = diff("read the orders file now", "read the invoices file now")
    assert [span.text for span in gone.spans if span.changed] == ["orders"]
    assert [span.text for span in came.spans if span.changed] == ["invoices"]


def test_lines_with_little_in_common_are_not_spotted_with_marks() -> None:
    gone, came = diff("the quick brown fox", "zzz 12345 qqqq")
    assert not any(span.changed for span in [*gone.spans, *came.spans])


def test_long_unchanged_stretches_are_counted_not_shown() -> None:
    same = [f"line {number}" for number in range(100)]
    lines = diff("\n".join([*same, "old"]), "\n".join([*same, "new"]))
    skipped = [line for line in lines if line.side is Side.SKIP]
    assert len(skipped) == 1
    assert "97 lines the same" in skipped[0].text
    assert len(lines) == 6


def test_a_text_of_many_lines_says_how_many_it_leaves_out() -> None:
    lines = cut([str(number) for number in range(5_000)])
    assert len(lines) == MAX_LINES + 1
    assert any("4,600 lines not shown" in line for line in lines)
    assert (
        sum(line.side is Side.SKIP for line in one_sided("\n".join(map(str, range(5_000))), Side.GONE)) == 1
    )


def test_identifiers_are_names_paths_and_numbers() -> None:
    found = identifiers("See src/orders/reserve.py:41 and withRetry, about 1 of 40; MAX_TRIES in retry.toml.")
    assert found == ["src/orders/reserve.py:41", "withRetry", "40", "MAX_TRIES", "retry.toml"]


def test_what_is_lost_is_marked_in_the_text() -> None:
    (line,) = marked("call withRetry twice", ["withRetry"])
    assert [(span.text, span.changed) for span in line.spans] == [
        ("call ", False),
        ("withRetry", True),
        (" twice", False),
    ]
