"""Spin: the same call with the same result, again and again. A nudge at first, then the run is paused."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Spinning
from ..events import Event, NoticeGiven, SpinSeen
from ..messages import Kind, calls_of, canonical, result_text, results_of
from ..window.head import notice
from ..window.versions import Window
from .base import Technique

NUDGE = (
    "The last {times} calls of {name} were the same and gave the same result. "
    "Try something else, or say what blocks you."
)


class Spin(Technique):
    """Counted from the archive's newest messages, so a worker that takes a run up counts on."""

    name = "spin"

    def after_turn(self, window: Window) -> Iterator[Event]:
        name, times = alike(window)
        policy = self.desk.policy.valves
        if policy.spin_pause and times >= policy.spin_pause:
            yield SpinSeen(turn=self.desk.turn, name=name, times=times)
            raise Spinning(
                f"{name} was called {times} times with the same result. Say what to do instead, or resume."
            )
        if policy.spin_nudge and times == policy.spin_nudge:
            yield SpinSeen(turn=self.desk.turn, name=name, times=times)
            line = notice(self.desk.numbers.message, self.desk.turn, NUDGE.format(times=times, name=name))
            yield NoticeGiven(turn=self.desk.turn, message=line)
            window.append(line)
            self.desk.numbers.message += 1


def alike(window: Window) -> tuple[str, int]:
    """The newest call's name, and how many turns in a row, since a person last spoke, asked and got the same."""
    name, times, last = "", 0, b""
    given: dict[str, str] = {}
    for number in sorted(window.messages, reverse=True):
        message = window.messages[number]
        if message.kind is Kind.RESULTS:
            given = {block["tool_use_id"]: result_text(block) for block in results_of(message.content)}
        if message.kind is Kind.SAY:
            break
        if message.kind is not Kind.ANSWER:
            continue
        asked = [[call["name"], call["input"], given.get(call["id"])] for call in calls_of(message.content)]
        if not asked or (last and canonical(asked) != last):
            break
        name, times, last = asked[0][0], times + 1, canonical(asked)
    return name, times
