"""The two maps: one scale, blocks end to end, the freed part drawn empty."""

from __future__ import annotations

import pytest

from runs.engine.events import Form, Item
from runs.engine.messages import Kind
from runs.present.diff import Comparison, Totals, compare
from runs.present.diff_map import HEIGHT, TOP, Look, Map, draw

KINDS = {1: Kind.GOAL, 2: Kind.ANSWER, 3: Kind.RESULTS, 4: Kind.ANSWER, 5: Kind.RESULTS, 6: Kind.EPISODE}
PARTS = {1: "person", 2: "assistant", 3: "results", 4: "assistant", 5: "results", 6: "episodes"}


def folded() -> Comparison:
    return compare(
        [Item(message=number) for number in (1, 2, 3, 4, 5)],
        [Item(message=number) for number in (1, 6, 4, 5)],
        kinds=KINDS,
        edit="compact",
        sizes={(number, form): 1000 * number for number in KINDS for form in Form},
        totals=Totals(before=20_000, after=8_000, system=500, tools=1500),
    )


def drawn(comparison: Comparison) -> Map:
    looks = {
        f"m{number}": Look(part=part, label=f"entry {number}", turn=number) for number, part in PARTS.items()
    }
    looks |= {name: Look(part=name, label=name) for name in ("system", "tools")}
    return draw(comparison, looks)


def test_a_token_has_the_same_height_on_both_sides() -> None:
    picture = drawn(folded())
    for rect in [*picture.before, *picture.after]:
        assert rect.height == pytest.approx(rect.tokens * HEIGHT / 20_000, abs=0.02)


def test_blocks_stand_end_to_end_and_fill_the_window_before() -> None:
    picture = drawn(folded())
    assert picture.before[0].y == TOP
    for above, below in zip(picture.before, picture.before[1:], strict=False):
        assert below.y == pytest.approx(above.y + above.height, abs=0.03)
    assert sum(rect.height for rect in picture.before) == pytest.approx(HEIGHT, abs=0.1)


def test_the_freed_part_is_drawn_as_empty_space_down_to_the_old_end() -> None:
    picture = drawn(folded())
    assert picture.freed is not None
    assert picture.freed.tokens == 12_000
    assert picture.freed_share == 60
    assert picture.freed.y + picture.freed.height == pytest.approx(TOP + HEIGHT, abs=0.1)


def test_each_folded_block_has_a_ribbon_into_the_episode() -> None:
    picture = drawn(folded())
    ribbons = {ribbon.key: ribbon for ribbon in picture.ribbons}
    assert {"m2", "m3"} <= ribbons.keys()
    assert ribbons["m2"].fate == "folded"
    assert "m6" not in ribbons


def test_thin_neighbours_of_one_class_are_merged_and_stay_countable() -> None:
    numbers = list(range(1, 201))
    comparison = compare(
        [Item(message=number) for number in numbers],
        [Item(message=1)],
        kinds=dict.fromkeys(numbers, Kind.ANSWER),
        edit="clear",
        sizes={(number, form): 10 for number in numbers for form in Form},
        totals=Totals(before=200_000, after=198_010, system=99_000, tools=99_000),
    )
    looks = {f"m{number}": Look(part="assistant", label="a") for number in numbers}
    picture = draw(comparison, looks | {name: Look(part=name, label=name) for name in ("system", "tools")})
    assert len(picture.before) < 120
    assert sum(len(rect.rows) for rect in picture.before) == 202


def test_a_window_that_did_not_shrink_has_no_freed_part() -> None:
    same = [Item(message=1)]
    comparison = compare(
        same,
        same,
        kinds={1: Kind.GOAL},
        edit="clear_results",
        sizes={(1, form): 10 for form in Form},
        totals=Totals(before=100, after=100, system=10, tools=10),
    )
    assert drawn(comparison).freed is None
