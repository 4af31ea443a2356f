"""What an edit costs and when it has paid for itself: arithmetic over tokens and prices, in microdollars.

The rule: a turn reads its unchanged prefix from the cache and writes the rest. After an edit everything
behind the first changed token is written once more instead of read; every later turn then reads fewer tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from runs.engine.ports import Price
from runs.engine.window.diff import Fate

from .diff import Comparison

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Microdollars; None where the llm's price is unknown. `turns`: after so many it has paid back."""

    call: int | None
    rewritten: int
    rewrite: int | None
    saves: int | None
    turns: int | None

    def paid_back_at(self, turn: int) -> int | None:
        return turn + self.turns if self.turns is not None else None


def cost(*, call: int | None, rewritten: int, freed: int, price: Price | None) -> Cost:
    """`call` is what the summary's call cost, `rewritten` the tokens that the cache must take in again."""
    if price is None:
        return Cost(call=call or None, rewritten=rewritten, rewrite=None, saves=None, turns=None)
    rewrite = rewritten * max(price.cache_write - price.cache_read, 0) // MILLION
    saves = freed * price.cache_read // MILLION
    spent = (call or 0) + rewrite
    turns = math.ceil(spent / saves) if saves > 0 else None
    return Cost(call=call, rewritten=rewritten, rewrite=rewrite, saves=saves, turns=turns)


def call_price(*, prompt: int, written: int, price: Price | None) -> int | None:
    """A summary's call: it reads the window from the cache and writes an episode."""
    if price is None:
        return None
    return (prompt * price.cache_read + written * price.output) // MILLION


def read_price(tokens: int, price: Price | None) -> int:
    """What reading so many tokens from the cache costs, each turn again; 0 where no price is known."""
    return tokens * price.cache_read // MILLION if price else 0


def rewritten(comparison: Comparison) -> int:
    """Tokens of the window after that stand behind its first change."""
    unchanged = 0
    for row in comparison.rows:
        if row.before != row.after or row.fate not in (Fate.KEPT, Fate.PINNED):
            break
        unchanged += row.tokens_after
    return max(comparison.totals.after - unchanged, 0)
