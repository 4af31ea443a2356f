"""One row of the feed. `kind` names its template in templates/run/rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from .asking import Ask
from .standing import Tag
from .told import Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a row shows. `first`: the first of its turn, which says the turn's number. `long`: it opens.

    `html` has been cleaned; all other text is escaped by the template. Tokens None: nothing to say.
    """

    id: str
    kind: str
    seq: int
    turn: int
    at: datetime
    icon: str = "info"
    first: bool = True
    title: str = ""
    detail: str = ""
    html: SafeString = SafeString("")
    note: str = ""
    tone: str = ""
    loud: tuple[str, ...] = ()
    css: str = ""
    tokens: int | None = None
    ms: int | None = None
    message: int = 0
    block: int = 0
    tag: Tag | None = None
    tag_of: str = ""
    call_id: str = ""
    long: bool = False
    link: int = 0
    before: int | None = None
    after: int | None = None
    cost: int = 0
    quiet: bool = False
    ask: Ask | None = None
    told: Told | None = None

    @property
    def freed(self) -> int | None:
        """Tokens an edit took out of the window."""
        return self.before - self.after if self.before is not None and self.after is not None else None

    @property
    def template(self) -> str:
        return f"run/rows/{self.kind}.html"

    @property
    def tag_id(self) -> str:
        return tag_id(self.id)


def tag_id(row: str) -> str:
    return f"t{row[1:]}"
