"""What a turn costs: what is new in it, however long the window is. Calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from runs.engine.events import Effect, Usage
from runs.engine.messages import sha256
from runs.engine.ports import ToolResult
from runs.engine.window.gauge import Gauge
from runs.engine.window.render import Renderer

from .stage import Play, Probe, Step, answer, lines, play, use


def steps(turns: int) -> Iterator[Step]:
    for turn in range(1, turns + 1):
        usage = Usage(input=20, cache_read=500 + 300 * turn, cache_write=280, output=30)
        yield answer(f"I look at {turn}.", use(f"t{turn}", "probe", what=str(turn)), usage=usage)
    yield answer("Done.")


def long_run(turns: int) -> Play:
    probe = Probe(
        effect=Effect.PURE, does=lambda context: ToolResult(content=lines(f"turn {context.turn}", 12))
    )
    return play(*steps(turns), tools=(probe,), limit=200_000)


def calls_of_a_turn(run: Play) -> int:
    """How many functions a turn calls."""
    count = 0

    def called(frame: object, event: str, what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        events = list(run.agent.turn())
    finally:
        sys.setprofile(None)
    for event in events:
        run.archive.append(event)
    return count


def test_a_turn_in_a_long_window_takes_no_more_steps_than_in_a_short_one() -> None:
    run = long_run(130)
    taken = [calls_of_a_turn(run) for _ in range(130)]
    early, late = sorted(taken[5:15])[5], sorted(taken[-10:])[5]
    assert late <= 1.05 * early


def test_what_is_added_up_turn_by_turn_is_what_is_there() -> None:
    run = long_run(12)
    for _ in range(12):
        run.turn()
        desk = run.agent.desk
        shown, calls = desk.window.entries, desk.window.calls()
        now = desk.renderer.render(desk.frame, shown, calls, 1).request
        anew = Renderer(desk.slug).render(desk.frame, shown, calls, 1).request
        assert (now.body, now.sha256) == (anew.body, sha256(anew.body))
        counted = Gauge(desk.frame, desk.gauge.last, desk.gauge.ratio, dict(desk.gauge.known))
        again = counted.read(desk.window.version.number, desk.window.upto, desk.with_blocks(shown))
        assert again == desk.read()
