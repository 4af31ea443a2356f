"""Both windows of an edit, read from the archive and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.engine.events import Form
from runs.engine.messages import Kind, Message
from runs.models import Edit, Run, Turn, Version

from . import diff_labels, diff_window
from .diff import Comparison, Row, Totals, compare
from .diff_labels import Name
from .diff_window import Sized, Sizes

WRITTEN = (Kind.EPISODE, Kind.NOTES, Kind.NOTICE)
FIXED = {
    "system": Name(icon="lock", part="system", text="System prompt"),
    "tools": Name(icon="lock", part="tools", text="Tool definitions"),
}


@dataclass(frozen=True, kw_only=True)
class Found:
    """A comparison with the messages it speaks of."""

    comparison: Comparison
    sizes: Sizes
    before: Mapping[int, Sized]
    after: Mapping[int, Sized]

    def message(self, number: int) -> Message:
        return (self.after.get(number) or self.before[number]).entry.message

    def name(self, row: Row) -> Name:
        if not row.message:
            return FIXED[row.key]
        return diff_labels.name(self.message(row.message), self.sizes.calls)

    def turn(self, key: str) -> int:
        return self.message(int(key[1:])).turn if key[1:].isdigit() else 0

    def work_turn(self, key: str) -> int:
        """The turn of an answer or of results; 0 for what a person or the product wrote in between."""
        worked = key[1:].isdigit() and self.message(int(key[1:])).kind in (Kind.ANSWER, Kind.RESULTS)
        return self.turn(key) if worked else 0


def read(run: Run, edit: Edit) -> Found:
    """Both windows of an applied edit. Raises LookupError when there is no turn yet, or no window after."""
    frame = diff_window.frame_of(run, edit.turn)
    if frame is None or edit.after is None:
        raise LookupError(f"Edit {edit.number} has no window after.")
    base = Version.objects.values_list("base", flat=True).get(run=run, number=edit.after)
    sizes, after = diff_window.load(run, frame, edit.after, base)
    upto = base - _written(edit, base, after)
    before_sizes, before = diff_window.load(run, frame, edit.before, upto)
    both = Sizes(frame=frame, shape=sizes.shape, calls={**before_sizes.calls, **sizes.calls})
    return Found(
        comparison=_compared(edit, before, after, _totals(run, edit, both)),
        sizes=both,
        before={sized.number: sized for sized in before},
        after={sized.number: sized for sized in after},
    )


def _written(edit: Edit, base: int, after: Sequence[Sized]) -> int:
    """How many of the newest messages the edit itself wrote: its notes, its episode, the line to go on."""
    if edit.kind not in ("compact", "clear"):
        return 0
    kinds = {sized.number: sized.entry.message.kind for sized in after}
    count = 0
    while kinds.get(base - count) in WRITTEN:
        count += 1
    return count


def _totals(run: Run, edit: Edit, sizes: Sizes) -> Totals:
    """Totals as the run measured them; the fixed parts by the share they had in the turn of the edit."""
    turn = (
        Turn.objects.filter(run=run, number__lte=max(edit.turn, 1), status="closed")
        .order_by("-number")
        .first()
    )
    tools = turn.parts.get("tools", 0) if turn else sizes.tools
    ratio = tools / sizes.tools if sizes.tools else 1.0
    after = edit.tokens_before if edit.tokens_after is None else edit.tokens_after
    return Totals(before=edit.tokens_before, after=after, system=round(sizes.system * ratio), tools=tools)


def _compared(edit: Edit, before: Sequence[Sized], after: Sequence[Sized], totals: Totals) -> Comparison:
    entries = [*before, *after]
    sizes: dict[tuple[int, Form], int] = {(sized.number, sized.entry.form): sized.tokens for sized in entries}
    return compare(
        [sized.entry.item for sized in before],
        [sized.entry.item for sized in after],
        kinds={sized.number: sized.entry.message.kind for sized in entries},
        edit=edit.kind,
        sizes=sizes,
        totals=totals,
    )
