"""What is known of llms without asking: window, longest answer, thinking, price. Servers and settings may
know better.

Windows and prices as of the provider's pages (2026-11); prices in dollars per million tokens.
"""

from __future__ import annotations

from ..ports import Capability, Price

_READ, _WRITE, _WRITE_1H = 0.1, 1.25, 2.0


def price(input_usd: float, output_usd: float) -> Price:
    """Microdollars per million tokens; the cache's prices follow from the input's by the provider's
    factors."""
    base = input_usd * 1_000_000
    return Price(
        input=round(base),
        output=round(output_usd * 1_000_000),
        cache_read=round(base * _READ),
        cache_write=round(base * _WRITE),
        cache_write_1h=round(base * _WRITE_1H),
    )


_M, _200K = 1_000_000, 200_000

_LLMS: dict[str, tuple[int, int, str, tuple[float, float] | None]] = {
    "claude-opus-5-5": (_M, 128_000, "bound", (4.0, 20.0)),
    "claude-sonnet-5-5": (_M, 128_000, "bound", (2.0, 10.0)),
    "claude-haiku-5-5": (_M, 128_000, "bound", (0.10, 0.50)),
    "claude-fable-5-2": (_M, 128_000, "bound", None),
    "claude-fable-5-1": (_M, 128_000, "bound", None),
    "claude-mythos-5-2": (_M, 128_000, "bound", None),
    "claude-mythos-5-1": (_M, 128_000, "bound", None),
    "claude-fable-5": (_M, 128_000, "adaptive", None),
    "claude-mythos-5": (_M, 128_000, "adaptive", None),
    "claude-sonnet-5": (_M, 128_000, "adaptive", None),
    "claude-opus-5": (_M, 128_000, "adaptive", None),
    "claude-opus-4-8": (_M, 128_000, "adaptive", None),
    "claude-opus-4-7": (_M, 128_000, "adaptive", None),
    "claude-opus-4-6": (_M, 128_000, "adaptive", None),
    "claude-sonnet-4-6": (_M, 128_000, "adaptive", None),
    "claude-haiku-4-5": (_200K, 64_000, "manual", (1.0, 5.0)),
    "claude-opus-4-5": (_200K, 64_000, "manual", None),
    "claude-sonnet-4-5": (_200K, 64_000, "manual", None),
}

REHEARSAL = Capability(
    llm="rehearsal", context=250_000, max_output=16_000, thinking="bound", price=price(2.0, 10.0)
)
"""The rehearsal costs nothing; its dollars are pretended, at the price of Sonnet 5.5, so that pages show
real sizes."""


def find(llm: str) -> Capability | None:
    """The row for an llm; a dated id (claude-haiku-4-5-20251001) is found by its name."""
    name, _, tail = llm.rpartition("-")
    row = _LLMS.get(llm) or (_LLMS.get(name) if len(tail) == 8 and tail.isdigit() else None)
    if row is None:
        return None
    context, max_output, thinking, usd = row
    return Capability(
        llm=llm, context=context, max_output=max_output, thinking=thinking, price=price(*usd) if usd else None
    )


def names() -> tuple[str, ...]:
    return tuple(_LLMS)
