"""Events of the window: looked at, changed, or left as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import Event
from .values import Edit, Trigger, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Event):
    """A technique looked at the window. `verdict`: "fired" or "not fired"; value and threshold: shares of the limit."""

    kind: ClassVar[str] = "window.checked"
    technique: str
    value: float
    threshold: float
    verdict: str
    why: str

    def data(self) -> dict[str, Any]:
        data = {
            "technique": self.technique,
            "value": round(self.value, 4),
            "threshold": round(self.threshold, 4),
        }
        return data | {"verdict": self.verdict, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEdited(Event):
    kind: ClassVar[str] = "window.edited"
    edit: Edit

    def data(self) -> dict[str, Any]:
        edit = self.edit
        data = {
            "edit": edit.number,
            "kind": edit.kind,
            "before": edit.before.number,
            "after": edit.after.number,
        }
        return data | {"tokens_before": edit.tokens_before, "tokens_after": edit.tokens_after}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted(Event):
    kind: ClassVar[str] = "compaction.started"
    edit: int
    why: str

    def data(self) -> dict[str, Any]:
        return {"edit": self.edit, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFailed(Event):
    """The window stays as it was. `spent` are the summary calls that led nowhere."""

    kind: ClassVar[str] = "compaction.failed"
    edit: int
    method: str
    trigger: Trigger
    why: str
    order: int = 0
    by: str = ""
    instructions: str = ""
    tokens_before: int = 0
    usage: Usage = Usage()
    cost: int = 0
    ms: int = 0

    def data(self) -> dict[str, Any]:
        return {"edit": self.edit, "why": self.why}
