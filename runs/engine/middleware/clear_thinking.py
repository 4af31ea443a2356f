"""Clear thinking: what the agent thought in finished turns of a person leaves the window, whole."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Checked, Edit, Event, Trigger
from ..window.head import without_thinking
from ..window.thinking import thinks, without_old_thinking
from ..window.versions import Window
from .base import Asked, Desk, Technique, percent
from .undo import fresh_undo


class ClearThinking(Technique):
    """For conversations: in a run that walks alone its one turn is never finished, and there is nothing to clear."""

    name = "clear_thinking"

    def before_call(self, window: Window) -> Iterator[Event]:
        share, policy = self.desk.share(), self.desk.policy.clear_thinking
        at = policy.at or self.desk.policy.window.mark
        if share < at:
            yield self._checked(share, at, "not fired", f"{percent(share)} < {percent(at)}")
            return
        if taken_back := fresh_undo(self.desk):
            yield self._checked(share, at, "not fired", taken_back)
            return
        edit = drawn(self.desk, Asked(reason=f"{percent(share)} ≥ {percent(at)}"))
        frees = edit.tokens_before - edit.tokens_after if edit else 0
        wanted = max(1, int(policy.frees * self.desk.mark))
        if edit is None or frees < wanted:
            why = f"would free {frees:,} tokens, less than {wanted:,}"
            yield self._checked(share, at, "not fired", why)
            return
        yield self._checked(share, at, "fired", f"{percent(share)} ≥ {percent(at)}, frees {frees:,} tokens")
        yield from self.desk.apply(edit)

    def clear(self, asked: Asked) -> Iterator[Event]:
        """The same without the gate; `asked.keep` in turns of a person. Nothing to clear: no event, no edit."""
        edit = drawn(self.desk, asked)
        if edit is not None and edit.tokens_after < edit.tokens_before:
            yield from self.desk.apply(edit)

    def _checked(self, share: float, at: float, verdict: str, why: str) -> Event:
        return Checked(
            turn=self.desk.turn, technique=self.name, value=share, threshold=at, verdict=verdict, why=why
        )


def lose_thinking(desk: Desk, why: str) -> Iterator[Event]:
    """All of it leaves, that of an open tool loop too: the llm's server does not take it any more."""
    shown = desk.window.entries
    if any(thinks(entry) for entry in shown):
        items = [without_thinking(entry) for entry in shown]
        yield from desk.apply(
            desk.draw(items, (), kind="clear_thinking", method="clear", trigger=Trigger.AUTO, reason=why)
        )


def drawn(desk: Desk, asked: Asked) -> Edit | None:
    """The edit that takes old thinking out; None when none may leave."""
    keep = desk.policy.clear_thinking.keep if asked.keep is None else asked.keep
    bound = desk.llm.capability.thinking == "bound"
    items = without_old_thinking(desk.window.entries, keep, bound=bound)
    if items is None:
        return None
    return desk.draw(
        items,
        (),
        kind="clear_thinking",
        method="clear",
        trigger=asked.trigger,
        order=asked.order,
        by=asked.by,
        reason=asked.reason or "by order",
    )
