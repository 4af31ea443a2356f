"""How much is asked of the house."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """`runs` on llms that take `answer_s` for an answer of `pieces`, on so many worker processes, before `viewers`,
    measured for `seconds` once all are at work."""

    runs: int
    workers: int
    viewers: int
    seconds: float
    answer_s: float = 20.0
    pieces: int = 20

    @property
    def threads(self) -> int:
        """Of each worker; together one for each run, as few as would do."""
        return -(-self.runs // self.workers)

    @property
    def ideal(self) -> float:
        """Turns a second, were there nothing but the llm."""
        return self.runs / self.answer_s
