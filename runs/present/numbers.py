"""How this house writes numbers: `k` with one decimal in overviews, exact in lists, a space before %, a true minus.

What is not known is written "unknown", never as zero.
"""

from __future__ import annotations

MINUS = "\u2212"
UNKNOWN = "unknown"


def exact(value: int | None) -> str:
    """12840 → 12,840"""
    if value is None:
        return UNKNOWN
    return f"{value:,}".replace("-", MINUS)


def kilo(value: int | float | None) -> str:
    """Tokens in an overview: 950 → 950, 24000 → 24k, 122410 → 122.4k, 2300000 → 2.3M"""
    if value is None:
        return UNKNOWN
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if abs(value) >= size:
            return f"{value / size:,.1f}".removesuffix(".0").replace("-", MINUS) + unit
    return f"{value:.0f}".replace("-", MINUS)


def percent(share: float | None) -> str:
    """0.61 → 61 %. A share that is not nothing is never shown as 0 %."""
    if share is None:
        return UNKNOWN
    whole = round(share * 100)
    if whole == 0 and share > 0:
        return "< 1 %"
    return f"{whole} %".replace("-", MINUS)


def usd(micros: int | float | None) -> str:
    """Microdollars as dollars: cents from a dollar on, three decimals below, four below a cent."""
    if micros is None:
        return UNKNOWN
    dollars = micros / 1_000_000
    places = 2 if abs(dollars) >= 1 or micros == 0 else 3 if abs(dollars) >= 0.01 else 4
    sign = MINUS if dollars < 0 else ""
    return f"{sign}${abs(dollars):,.{places}f}"


def seconds(ms: int | None) -> str:
    """How long one thing took: 90 → 0.1 s, 9700 → 9.7 s, 41000 → 41 s, 190000 → 3 min; what took no time, nothing."""
    if ms is None or ms < 50:
        return ""
    value = ms / 1000
    if value < 10:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 100 else f"{value / 60:.0f} min"


def span(value: float) -> str:
    """How long a run takes, from seconds: 42 s, 12 min, 1 h 52 min, 3 d 4 h"""
    minutes, rest = divmod(int(value), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes} min"


def ratio(whole: float, part: float) -> str:
    """Input to output: 38 : 1, or 0.4 : 1"""
    if not part:
        return UNKNOWN
    value = whole / part
    return f"{value:.0f} : 1" if value >= 10 else f"{value:.1f} : 1"
