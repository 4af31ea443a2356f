"""The prompt cache's accounts, against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

from runs.engine.llm.rehearsal.cache import Account, PrefixCache
from runs.engine.llm.rehearsal.count import Element

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def block(name: str, tokens: int = 1_000, mark: dict[str, str] | None = None, layer: str = "user") -> Element:
    value: dict[str, Any] = {"type": "text", "text": name}
    return Element(layer, name, {**value, "cache_control": mark} if mark else value, tokens)


def body(**more: Any) -> dict[str, Any]:
    return {"model": "m", **more}


def test_without_a_mark_everything_is_paid_in_full() -> None:
    assert PrefixCache().account(body(), [block("a"), block("b")]) == Account(input=2_000)


def test_a_mark_writes_and_the_same_prefix_reads() -> None:
    cache = PrefixCache()
    first = [block("system", 2_000, MARK, "system"), block("a")]
    assert cache.account(body(), first) == Account(input=1_000, written=2_000)
    second = [block("system", 2_000, MARK, "system"), block("other", 500)]
    assert cache.account(body(), second) == Account(input=500, read=2_000)


def test_a_sliding_tail_reads_the_old_part_and_writes_the_new_one() -> None:
    cache = PrefixCache()
    assert cache.account(body(), [block("a"), block("b", mark=MARK)]) == Account(input=0, written=2_000)
    grown = [block("a"), block("b", mark=MARK), block("c"), block("d", 500, MARK)]
    assert cache.account(body(), grown) == Account(input=0, read=2_000, written=1_500)


def test_a_mark_looks_back_twenty_blocks_and_no_further() -> None:
    for more, read in ((20, 2_000), (21, 0)):
        cache = PrefixCache()
        cache.account(body(), [block("a", 2_000, MARK)])
        tail = [block(f"b{n}", 10) for n in range(more - 1)] + [block("end", 10, MARK)]
        total = 2_000 + more * 10
        assert cache.account(body(), [block("a", 2_000), *tail]) == Account(
            input=0, read=read, written=total - read
        )


def test_two_marks_bridge_a_turn_of_many_blocks() -> None:
    """Trap 4: with one mark the same turn reads nothing."""
    cache = PrefixCache()
    cache.account(body(), [block("a", 2_000, MARK)])
    many = [block(f"b{n}", 10) for n in range(29)] + [block("end", 10, MARK)]
    assert cache.account(body(), [block("a", 2_000, MARK), *many]) == Account(
        input=0, read=2_000, written=300
    )


def test_a_change_in_the_middle_loses_everything_behind_it() -> None:
    cache = PrefixCache()
    cache.account(body(), [block("a", 2_000, MARK), block("b"), block("c", mark=MARK)])
    edited = [block("a", 2_000, MARK), block("B"), block("c", mark=MARK)]
    assert cache.account(body(), edited) == Account(input=0, read=2_000, written=2_000)
    assert cache.account(body(), edited) == Account(input=0, read=4_000)


def test_what_is_too_short_is_not_cached_and_nobody_says_so() -> None:
    cache = PrefixCache()
    for _ in range(2):
        assert cache.account(body(), [block("a", 1_023, MARK)]) == Account(input=1_023)


def test_an_entry_lives_five_minutes_from_its_last_use() -> None:
    clock = Clock()
    cache = PrefixCache(clock)
    once = [block("a", 2_000, MARK)]
    cache.account(body(), once)
    clock.now = 299
    assert cache.account(body(), once).read == 2_000
    clock.now = 299 + 299
    assert cache.account(body(), once).read == 2_000
    clock.now = 299 + 299 + 301
    assert cache.account(body(), once) == Account(input=0, written=2_000)


def test_an_hour_costs_apart_and_lives_an_hour() -> None:
    clock = Clock()
    cache = PrefixCache(clock)
    both = [block("a", 2_000, HOUR), block("b", 1_500, MARK)]
    assert cache.account(body(), both) == Account(input=0, written=1_500, written_1h=2_000)
    clock.now = 1_000
    assert cache.account(body(), both) == Account(input=0, read=2_000, written=1_500)


def test_another_llm_reads_nothing() -> None:
    cache = PrefixCache()
    cache.account(body(), [block("a", 2_000, MARK)])
    assert cache.account({"model": "other"}, [block("a", 2_000, MARK)]).read == 0


def test_another_tool_choice_or_thinking_keeps_tools_and_system() -> None:
    cache = PrefixCache()
    parts = [block("system", 2_000, MARK, "system"), block("a", 1_000, MARK)]
    cache.account(body(), parts)
    changed = cache.account(body(thinking={"type": "adaptive"}), parts)
    assert changed == Account(input=0, read=2_000, written=1_000)


def test_the_automatic_mark_stands_on_the_last_block() -> None:
    cache = PrefixCache()
    assert cache.account(body(cache_control=MARK), [block("a"), block("b")]) == Account(
        input=0, written=2_000
    )
    assert cache.account(body(cache_control=MARK), [block("a"), block("b")]) == Account(input=0, read=2_000)


def test_the_memory_of_prefixes_is_bounded() -> None:
    cache = PrefixCache(most=3)
    for n in range(4):
        cache.account(body(), [block(f"a{n}", 2_000, MARK)])
    assert cache.account(body(), [block("a0", 2_000, MARK)]).read == 0
    assert cache.account(body(), [block("a3", 2_000, MARK)]).read == 2_000


def test_the_account_is_reported_as_the_api_does() -> None:
    usage = Account(input=1, read=2, written=3, written_1h=4).usage()
    assert usage == {
        "input_tokens": 1,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 2,
        "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4},
    }
