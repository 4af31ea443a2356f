"""Before | after: every entry in exactly one class, the sums equal to the two totals."""

from __future__ import annotations

from collections import Counter

from runs.engine.events import Edit, Note
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.window.diff import Fate, Row, compare
from runs.engine.window.versions import entries
from tests.cases.ground import Ground

from ..stage import laid, lines, said, talk


def rows(ground: Ground) -> tuple[Row, ...]:
    """The rows of the newest edit, looked at as a page does: the sums and the classes hold in every case."""
    edit: Edit = ground.events[-1].edit  # type: ignore[attr-defined]
    known = ground.desk.window.messages
    before = entries(edit.before, known, edit.after.base - len(edit.added))
    after = entries(edit.after, known, edit.after.base)
    both = [*before, *after]
    sizes = {(e.message.number, e.form): size for e, size in zip(both, ground.desk.sizes(both), strict=True)}
    kinds = {number: message.kind for number, message in known.items()}
    found = compare(
        [e.item for e in before], [e.item for e in after], kinds=kinds, edit=edit.kind, sizes=sizes
    )
    assert sorted(row.message for row in found) == sorted({e.message.number for e in both})
    assert sum(row.tokens_before for row in found) == sum(ground.desk.sizes(before))
    assert sum(row.tokens_after for row in found) == sum(ground.desk.sizes(after))
    return found


def fates(ground: Ground) -> Counter[Fate]:
    return Counter(row.fate for row in rows(ground))


def busy() -> Ground:
    ground = laid(talk(6, size=60), replies=["Short."])
    note = {"section": "facts", "state": "open", "author": "llm", "by": "", "turn": 1}
    ground.desk.notes = {1: Note(number=1, revision=1, text="brass", **note)}  # type: ignore[arg-type]
    return ground


def test_a_clearing_clears_and_keeps() -> None:
    ground = busy()
    ground.take(ground.technique("clear_results").clear(Asked(keep=2)))
    assert fates(ground) == {Fate.CLEARED: 4, Fate.KEPT: 8, Fate.PINNED: 1}


def test_a_compaction_folds_adds_and_re_enters() -> None:
    ground = busy()
    said(ground, "JSON only")
    ground.take(ground.technique("compact").compact(Asked(keep=3)))
    assert fates(ground) == {Fate.PINNED: 2, Fate.FOLDED: 10, Fate.KEPT: 2, Fate.RE_ENTERED: 1, Fate.ADDED: 2}


def test_notes_of_an_earlier_head_are_re_entered_by_the_next() -> None:
    ground = busy()
    for _ in range(2):
        ground.take(ground.technique("compact").compact(Asked(keep=0)))
        said(ground, lines("more", 60))
    ground.take(clear(ground.desk, Asked()))
    found = {row.message: row.fate for row in rows(ground)}
    assert Counter(found.values())[Fate.RE_ENTERED] == 1


def test_a_clear_drops_what_leaves() -> None:
    ground = busy()
    ground.take(clear(ground.desk, Asked()))
    assert fates(ground) == {Fate.PINNED: 1, Fate.DROPPED: 12, Fate.RE_ENTERED: 1, Fate.ADDED: 1}


def test_an_offload_is_told_from_a_clearing() -> None:
    ground = laid(talk(2, size=500))
    ground.take(ground.technique("offload").after_turn(ground.desk.window))
    assert fates(ground)[Fate.OFFLOADED] == 1
