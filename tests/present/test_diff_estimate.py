"""Estimates say what the engine would do: they use its rules, and err only in the length of a summary."""

from __future__ import annotations

import pytest

from runs.models import Run
from runs.present.diff_estimate import METHODS, Estimate, Ground, clear_all, estimates
from runs.present.diff_ground import ground
from tests.builders import a_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def base() -> Ground:
    found = ground(a_run(turns=24))
    assert found is not None
    return found


def by_key(base: Ground) -> dict[tuple[str, int], Estimate]:
    return {(one.method, one.keep): one for one in estimates(base)}


def test_there_is_an_estimate_for_every_choice(base: Ground) -> None:
    found = estimates(base)
    assert {one.method for one in found} == set(METHODS)
    assert {one.keep for one in found if one.method == "both"} == {
        one.keep for one in found if one.method == "clear"
    }


def test_the_parts_of_an_estimate_add_up_to_it(base: Ground) -> None:
    for one in estimates(base):
        assert sum(one.parts.values()) == one.after


def test_keeping_more_leaves_more(base: Ground) -> None:
    for method in METHODS:
        after = [one.after for one in estimates(base) if one.method == method]
        assert after == sorted(after)


def test_both_leaves_no_more_than_a_summary_alone(base: Ground) -> None:
    found = by_key(base)
    assert all(found["both", keep].after <= found["summary", keep].after for _, keep in found)


def test_the_method_clear_asks_for_no_llm_call(base: Ground) -> None:
    assert all(one.call == 0 for one in estimates(base) if one.method == "clear")


def test_clear_leaves_only_what_was_said_and_the_notes(base: Ground) -> None:
    left = clear_all(base).parts
    assert left["assistant"] == left["results"] == left["thinking"] == left["episodes"] == 0
    assert left["person"] > 0


def test_a_run_without_a_turn_has_nothing_to_estimate() -> None:
    assert ground(a_run(turns=0, order="")) is None


def test_an_estimate_of_clearing_is_what_the_window_comes_to(base: Ground) -> None:
    """The only thing not known beforehand is a summary's length; a clearing is known to the token, less rounding."""
    run = Run.objects.get()
    assert base.window == run.sums["window"]["final"]
    everything = sum(sized.tokens for sized in base.entries) + sum(base.fixed)
    assert base.ratio == pytest.approx(base.window / everything)
