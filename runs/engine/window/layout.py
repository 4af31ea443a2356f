"""The entries of a window as they are sent: worked out once for each, kept as long as they stand at the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_

from ..events import Frame
from ..messages import Block, Message
from .marks import Seams
from .tidy import Tidied
from .versions import Entry, Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A message as it is sent in one form: its blocks, and the line they make."""

    message: Message
    blocks: tuple[Block, ...]
    tidied: Tidied


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Entries as they are sent in one frame: with their blocks (`pairs`), tidied, with the blocks that are left then
    (`sent`), and what of them cache marks depend on."""

    frame: str = ""
    entries: tuple[Entry, ...] = ()
    pairs: list[Shown] = field(default_factory=list)
    tidied: list[Tidied] = field(default_factory=list)
    sent: list[Shown] = field(default_factory=list)
    seams: Seams = Seams()

    def stands(self, frame: Frame, entries: Sequence[Entry]) -> bool:
        """Whether these entries begin with its own."""
        known = len(self.entries) <= len(entries) and self.frame == frame.sha256
        return known and all(map(is_, self.entries, entries))

    def grown(self, entries: tuple[Entry, ...], laid: Sequence[Laid]) -> Layout:
        """The same with more entries; `laid` are those that it has not."""
        at = len(self.entries)
        new = entries[at:]
        return Layout(
            frame=self.frame,
            entries=entries,
            pairs=[*self.pairs, *zip(new, [one.blocks for one in laid], strict=True)],
            tidied=[*self.tidied, *(one.tidied for one in laid)],
            sent=[*self.sent, *zip(new, [one.tidied.line.blocks for one in laid], strict=True)],
            seams=self.seams.after(enumerate(new, at)),
        )
