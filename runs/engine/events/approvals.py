"""Events of a call that waits for a person's word, and the word itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from .base import Event
from .turns import PlannedCall


class Verdict(StrEnum):
    """What a person says of a call: the first four before it runs, the others when its outcome is unknown."""

    ALLOW = "allow"
    ALWAYS = "always"
    EDIT = "edit"
    DENY = "deny"
    DONE = "done"
    AGAIN = "again"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's word on one call. `input`: what runs instead, with EDIT; `order`: the order that brought it."""

    call: str
    verdict: Verdict
    by: str = ""
    reason: str = ""
    input: Mapping[str, Any] | None = None
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Event):
    """A call does not go on without a person. `about`: "approval" or "unknown_outcome"."""

    kind: ClassVar[str] = "approval.asked"
    call: PlannedCall
    about: str
    why: str

    def data(self) -> dict[str, Any]:
        call = self.call
        data = {
            "id": call.id,
            "name": call.name,
            "effect": call.effect.value,
            "input_sha256": call.input_sha256,
        }
        return data | {"about": self.about, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered(Event):
    """`input_sha256` is the hash of what may run now: the input that was shown, or the one a person wrote."""

    kind: ClassVar[str] = "approval.answered"
    call: PlannedCall
    decision: Decision
    input_sha256: str

    def data(self) -> dict[str, Any]:
        word = self.decision
        data = {"id": self.call.id, "verdict": word.verdict.value, "by": word.by, "reason": word.reason}
        return data | {"input_sha256": self.input_sha256, "order": word.order}
