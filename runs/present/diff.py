"""What an edit did: every entry of the window before and after in exactly one class, sums equal the totals.

Pure: it knows no table. The classes are the engine's; here the fixed parts join, and shares are scaled to the
two totals that the run has measured, so that the list adds up to the token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine.events import Form, Item
from runs.engine.messages import Kind
from runs.engine.window.diff import Fate
from runs.engine.window.diff import compare as classify
from runs.engine.window.gauge import scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Tokens of both windows, and of what stands in both unchanged: system prompt and tool definitions."""

    before: int
    after: int
    system: int
    tools: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry of either window. A form of None: it does not stand in that window, and has no tokens there.

    `key` names the row on the page: m12 for message 12, "system" and "tools" for what is no message.
    """

    key: str
    message: int
    before: Form | None
    after: Form | None
    fate: Fate
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A class that occurs: how many entries, and their tokens on both sides."""

    fate: Fate
    entries: int
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    rows: tuple[Row, ...]
    totals: Totals

    def of(self, fate: Fate) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.fate is fate)

    def sums(self) -> tuple[Sum, ...]:
        """Per class that occurs, in the order of the classes. They add up to the totals."""
        grouped = [(fate, self.of(fate)) for fate in Fate]
        return tuple(
            Sum(
                fate=fate,
                entries=len(rows),
                before=sum(row.tokens_before for row in rows),
                after=sum(row.tokens_after for row in rows),
            )
            for fate, rows in grouped
            if rows
        )


def compare(
    before: Sequence[Item],
    after: Sequence[Item],
    *,
    kinds: Mapping[int, Kind],
    edit: str,
    sizes: Mapping[tuple[int, Form], int],
    totals: Totals,
) -> Comparison:
    """The fixed parts, the window before in its order, then what is new. `sizes` need not be exact."""
    found = classify(before, after, kinds=kinds, edit=edit, sizes=sizes)
    rows = [
        Row(
            key=f"m{row.message}",
            message=row.message,
            before=row.before,
            after=row.after,
            fate=row.fate,
            tokens_before=row.tokens_before,
            tokens_after=row.tokens_after,
        )
        for row in found
    ]
    return Comparison(rows=(*_fixed(totals), *_fitted(rows, totals)), totals=totals)


def _fixed(totals: Totals) -> Iterator[Row]:
    for name, tokens in (("system", totals.system), ("tools", totals.tools)):
        if tokens:
            yield Row(
                key=name,
                message=0,
                before=Form.FULL,
                after=Form.FULL,
                fate=Fate.KEPT,
                tokens_before=tokens,
                tokens_after=tokens,
            )


def _fitted(rows: Sequence[Row], totals: Totals) -> list[Row]:
    """Shares that add up on both sides; what stands unchanged has the same number on both."""
    rest = totals.system + totals.tools
    befores = _scaled({row.key: row.tokens_before for row in rows if row.before}, totals.before - rest)
    same = {row.key: befores[row.key] for row in rows if row.before is not None and row.before is row.after}
    others = {row.key: row.tokens_after for row in rows if row.after and row.key not in same}
    left = totals.after - rest - sum(same.values())
    weight = sum(others.values())
    if left == weight == 0 or (weight and left > weight // 2):
        afters = same | _scaled(others, left)
    else:
        afters = _scaled({row.key: row.tokens_after for row in rows if row.after}, totals.after - rest)
    return [
        replace(row, tokens_before=befores.get(row.key, 0), tokens_after=afters.get(row.key, 0))
        for row in rows
    ]


def _scaled(shares: Mapping[str, int], total: int) -> dict[str, int]:
    """The shares scaled to `total`; with nothing to scale to, or nothing to scale, as they are."""
    return scaled(shares, total) if total > 0 else dict(shares)
