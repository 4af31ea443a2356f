"""What every event is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all. `turn` is the turn it belongs to, 0 for none."""

    kind: ClassVar[str] = ""
    turn: int = 0

    def data(self) -> dict[str, Any]:
        return {}
