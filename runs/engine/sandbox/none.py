"""No commands at all: where no sandbox works, the shell is off. There is no silent way around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runs.engine.ports import Cancel, Execution


@dataclass(slots=True, kw_only=True)
class Off:
    """`why` is the sentence of the backend that could not work, with its cure."""

    why: str
    name: str = "none"

    def available(self) -> str:
        return self.why

    def run(
        self,
        command: str,
        workspace: Path,
        *,
        timeout: float,
        key: str,
        cancel: Cancel,
        spool: Path | None = None,
    ) -> Execution:
        """Runs nothing: exit code 126 and the sentence."""
        return Execution(
            exit_code=126, output=self.why, omitted=0, total=0, status="killed", ms=0, reason="no sandbox"
        )
