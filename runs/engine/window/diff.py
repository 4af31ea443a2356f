"""Before | after of an edit: every entry of either side in exactly one class, the sums equal to the two totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..events import Form, Item
from ..messages import Kind


class Fate(StrEnum):
    KEPT = "kept"
    FOLDED = "folded"
    CLEARED = "cleared"
    OFFLOADED = "offloaded"
    PINNED = "pinned"
    RE_ENTERED = "re-entered"
    DROPPED = "dropped"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry. A side's form is None where the entry does not stand on that side; its tokens are 0 there."""

    message: int
    before: Form | None
    after: Form | None
    fate: Fate
    tokens_before: int
    tokens_after: int


def compare(
    before: Sequence[Item],
    after: Sequence[Item],
    *,
    kinds: Mapping[int, Kind],
    edit: str,
    sizes: Mapping[tuple[int, Form], int],
) -> tuple[Row, ...]:
    """Rows in the order of the window before, then what is new. `kinds`: of each message; `edit`: the edit's kind."""
    now = {item.message: item for item in after}
    old = {item.message: item for item in before}
    rows = [_row(item, now.get(item.message), kinds, edit, sizes) for item in before]
    rows += [_row(None, item, kinds, edit, sizes) for item in after if item.message not in old]
    return tuple(rows)


def _row(
    was: Item | None,
    now: Item | None,
    kinds: Mapping[int, Kind],
    edit: str,
    sizes: Mapping[tuple[int, Form], int],
) -> Row:
    some = was or now
    assert some is not None
    return Row(
        message=some.message,
        before=was.form if was else None,
        after=now.form if now else None,
        fate=_fate(was, now, kinds[some.message], edit),
        tokens_before=sizes[was.message, was.form] if was else 0,
        tokens_after=sizes[now.message, now.form] if now else 0,
    )


def _fate(was: Item | None, now: Item | None, kind: Kind, edit: str) -> Fate:
    if was is None:
        return Fate.RE_ENTERED if kind is Kind.NOTES or edit == "undo" else Fate.ADDED
    if now is None:
        return _gone(kind, edit)
    if now.form is not was.form:
        return Fate.OFFLOADED if now.form is Form.PREVIEW else Fate.CLEARED
    return Fate.PINNED if now.pinned or kind in (Kind.GOAL, Kind.SAY) else Fate.KEPT


def _gone(kind: Kind, edit: str) -> Fate:
    if edit in ("clear", "drop", "undo"):
        return Fate.DROPPED
    return Fate.RE_ENTERED if kind is Kind.NOTES else Fate.FOLDED
