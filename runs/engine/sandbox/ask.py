"""Commands without a wall, each of them allowed by a person: AGENTDASH_UNSANDBOXED=ask, where no sandbox works.

It runs what it is given like plain.py: empty environment, limits, nobody left alive. That nothing comes here unasked
is the approval technique's work, which looks for this backend's name (assemble).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .plain import Plain

NAME = "ask"


@dataclass(slots=True, kw_only=True)
class Ask(Plain):
    """`why` says why there is no sandbox."""

    name: str = NAME
    NAME: ClassVar[str] = NAME
