"""What an edit costs, and when it has paid for itself."""

from __future__ import annotations

from runs.engine.ports import Price
from runs.present.diff_cost import call_price, cost, read_price

PRICE = Price(
    input=3_000_000, output=15_000_000, cache_read=300_000, cache_write=3_750_000, cache_write_1h=6_000_000
)


def test_an_edit_pays_back_when_the_tokens_saved_have_covered_call_and_rewrite() -> None:
    found = cost(call=100_000, rewritten=30_000, freed=100_000, price=PRICE)
    assert found.rewrite == 103_500
    assert found.saves == 30_000
    assert found.turns == 7
    assert found.paid_back_at(45) == 52


def test_an_edit_that_frees_nothing_never_pays_back() -> None:
    found = cost(call=0, rewritten=1_000, freed=0, price=PRICE)
    assert found.turns is None
    assert found.paid_back_at(45) is None


def test_without_a_price_money_is_unknown_and_tokens_are_not() -> None:
    found = cost(call=0, rewritten=1_000, freed=500, price=None)
    assert (found.rewrite, found.saves, found.turns) == (None, None, None)
    assert found.rewritten == 1_000
    assert call_price(prompt=1000, written=100, price=None) is None
    assert read_price(1000, None) == 0


def test_a_summary_is_priced_as_a_read_of_the_window_and_what_it_writes() -> None:
    assert call_price(prompt=100_000, written=2_000, price=PRICE) == 60_000
