"""Sizes of texts are asked for again and again: the second time costs nothing, and large texts are not kept."""

from __future__ import annotations

from runs.engine import tokens


def test_a_size_that_was_asked_for_is_remembered() -> None:
    text = "The valve in the north hall opens at 45 bar.\n" * 20
    before = tokens._remembered.cache_info()
    assert tokens.estimate(text) == tokens.estimate("".join(text)) == tokens._weighed(text) > 0
    after = tokens._remembered.cache_info()
    assert after.hits - before.hits >= 1


def test_a_large_text_is_weighed_and_not_kept() -> None:
    text = "word " * tokens.REMEMBERED
    before = tokens._remembered.cache_info().currsize
    assert tokens.estimate(text) == tokens._weighed(text)
    assert tokens._remembered.cache_info().currsize == before
