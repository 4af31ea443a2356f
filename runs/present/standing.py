"""Where an archived message stands: in the window, as a stub, or out of it, and which edit took it out.

One answer for the feed's tags, for the live page and for "as of turn N".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from runs.engine.events import Form
from runs.models import Edit, Run, Version
from runs.store import page_reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A word on a row. `out`: the row's ground is striped, because the llm no longer sees it in full."""

    css: str
    text: str
    icon: str = ""
    title: str = ""
    out: bool = False


LATER = Tag(css="later", text="later", title="This came after the turn you are looking at")
IN_WINDOW = Tag(css="win", text="in window")
PINNED = Tag(css="pin", text="pinned", icon="pin", title="Stays word for word in every window")
CLEARED = Tag(
    css="stub",
    text="cleared",
    icon="broom",
    out=True,
    title="A marker stands in the window; the archive has it whole",
)
OFFLOADED = Tag(
    css="stub",
    text="offloaded",
    icon="box",
    title="Head and tail stand in the window; the whole text is a file",
)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The window of (version, upto) of a run, asked message by message. `past`: the turn looked at, None when live."""

    run: Run
    version: int
    upto: int
    past: int | None = None
    from_turn: int = 0
    known: Version | None = field(default=None, repr=False, compare=False)

    @classmethod
    def now(cls, run: Run, from_turn: int = 0) -> Standing:
        found = page_reads.present(run)
        return cls(run=run, version=run.version, upto=found.upto, from_turn=from_turn, known=found.version)

    @classmethod
    def of(cls, run_id: int) -> Standing:
        """Now, of a run that has not been read yet; its owner comes along."""
        found = page_reads.newest(run_id)
        return cls(run=found.run, version=found.run.version, upto=found.upto, known=found.version)

    @classmethod
    def at(cls, run: Run, turn: int, from_turn: int = 0) -> Standing:
        """As turn N left it. A turn that is not there yet shows the present."""
        row = page_reads.turn(run, turn)
        if row is None:
            return cls.now(run, from_turn)
        upto = max(row.upto, page_reads.last_message(run, turn))
        return cls(run=run, version=row.version, upto=upto, past=turn, from_turn=from_turn)

    @cached_property
    def _row(self) -> Version | None:
        return self.known or page_reads.version(self.run, self.version)

    @cached_property
    def items(self) -> Mapping[int, tuple[Form, bool]]:
        """Form and pin of the messages the version lists."""
        return {item[0]: (Form(item[1]), bool(item[2])) for item in self._row.items} if self._row else {}

    @property
    def base(self) -> int:
        return self._row.base if self._row else 0

    @cached_property
    def folds(self) -> list[tuple[Edit, int, frozenset[int]]]:
        """What took messages out, oldest first: the edit, the message it reached, the messages it left."""
        edits = page_reads.folding_edits(self.run, from_turn=self.from_turn, upto_version=self.version)
        rows = page_reads.versions(self.run, {edit.after for edit in edits if edit.after})
        afters = [(edit, rows[edit.after]) for edit in edits if edit.after in rows]
        return [(edit, row.base, frozenset(item[0] for item in row.items)) for edit, row in afters]

    def form(self, message: int) -> Form | None:
        """The message's form in this window; None when it does not stand in it."""
        if message in self.items:
            return self.items[message][0]
        return Form.FULL if self.base < message <= self.upto else None

    def tag(self, message: int, *, clearable: bool = True) -> Tag | None:
        """The word on a row of this message. Live, what simply stands in the window needs none.

        `clearable` False: clearing this message leaves this row's block as it is (an error, a small result, text).
        """
        form = self.form(message)
        if form is Form.CLEARED and clearable:
            return CLEARED
        if form is Form.PREVIEW:
            return OFFLOADED
        if form is not None:
            pinned = self.items.get(message, (form, False))[1]
            return PINNED if pinned else IN_WINDOW if self.past is not None else None
        return LATER if self.past is not None and message > self.upto else self.gone(message)

    def gone(self, message: int) -> Tag | None:
        for edit, reached, left in self.folds:
            if message <= reached and message not in left:
                return _gone_by(edit)
        return None


def _gone_by(edit: Edit) -> Tag:
    if edit.kind == "clear":
        return Tag(
            css="stub",
            text=f"clear at {edit.turn}",
            icon="clear",
            out=True,
            title="Cleared away; recall finds it",
        )
    number = edit.episode or edit.number
    return Tag(css="sum", text=f"summarised in #{number}", out=True, title="Its summary stands in the window")
