"""What persons said of the calls of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..events import Decision, Verdict

OF_OUTCOMES = (Verdict.DONE, Verdict.AGAIN, Verdict.LEAVE)


@dataclass(slots=True, kw_only=True)
class Words:
    """On the calls of the open turn. `always`: tools allowed for the whole run; `each`: those that ask each time."""

    permits: dict[str, Decision] = field(default_factory=dict)
    outcomes: dict[str, Decision] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)
    each: frozenset[str] = frozenset()

    def take(self, word: Decision, tool: str) -> None:
        kept = self.outcomes if word.verdict in OF_OUTCOMES else self.permits
        kept[word.call] = word
        if word.verdict is Verdict.ALWAYS:
            self.always.add(tool)

    def forget(self) -> None:
        """The turn is over: an id that comes again names another call."""
        self.permits.clear()
        self.outcomes.clear()
