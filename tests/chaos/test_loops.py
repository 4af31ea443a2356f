"""Llms that go round in circles, and budgets at their edge: the run pauses where it is documented, and only there."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from runs.engine.errors import BudgetSpent, Spinning
from runs.engine.events import Usage
from runs.engine.ports import ToolContext, ToolResult
from tests.engine.llm.playing import Remembering
from tests.engine.llm.playing import play as played
from tests.engine.stage import Play, Probe, Step, answer, play, use

from .conftest import Report
from .house import size

TURNS = 30
CIRCLES: dict[str, tuple[Callable[[int], str], int]] = {
    "the same call": (lambda turn: "a", 5),
    "A-B-A-B": (lambda turn: "ab"[turn % 2], 6),
    "A-B-C": (lambda turn: "abc"[turn % 3], 9),
    "A-A-B-B": (lambda turn: "aabb"[turn % 4], 12),
    "slowly changing": (lambda turn: str(turn // 3), 16),
    "always another": (lambda turn: str(turn), 16),
}
"""What the llm asks for in a turn, and the turn after which the run pauses (reliability.md §3g): five alike, three
rounds, fifteen turns without a new result (the first of all is new)."""

USAGE = Usage(input=900, output=100)
COST = 7_000
"""Microdollars of one turn, at the stage's price."""


def paused_after(stage: Play) -> int:
    for turn in range(1, TURNS + 1):
        try:
            stage.turn()
        except Spinning:
            return turn
    return 0


def test_circles_are_left_at_the_documented_turn(report: Report) -> None:
    figure = {}
    for name, (asks, _) in CIRCLES.items():
        steps = [answer(use(f"c{at}", "probe", what=asks(at))) for at in range(TURNS)]
        figure[name] = paused_after(play(*steps, tools=[Probe()]))
    problems = [
        f"{name}: paused after {figure[name]}, and not {turn}"
        for name, (_, turn) in CIRCLES.items()
        if figure[name] != turn
    ]
    report("A45-circles", figure, problems)


def test_a_budget_is_overshot_by_one_call_at_most(report: Report) -> None:
    """At the limit less one, at it, and one above: counted before each call, so only the last one may cross it."""
    problems, largest = [], 0
    for valve, unit, of_usd in (("turns", 1, 1), ("tokens", 1_000, 1), ("usd", COST, 1_000_000)):
        for turns in (2, 5, 12):
            for more in (-1, 0, 1):
                limit = turns * unit + more
                stage = play(*calling(TURNS), tools=[Probe(does=news)], valves=only(valve, limit / of_usd))
                calls = walked_to_the_valve(stage)
                begun_below = -(-limit // unit)
                largest = max(largest, calls - limit // unit)
                if calls != begun_below:
                    problems.append(f"{valve} of {limit}: {calls} calls, and not {begun_below}")
    report("A45-budgets", {"limits": 27, "overshoot_calls_max": largest}, problems)


def calling(turns: int) -> list[Step]:
    return [answer(use(f"c{at}", "probe", what=str(at)), usage=USAGE) for at in range(turns)]


def news(context: ToolContext) -> ToolResult:
    return ToolResult(content=f"result {context.turn}")


def only(valve: str, limit: float) -> dict[str, float]:
    """One valve; the others are open."""
    return {
        **dict.fromkeys(("turns", "usd", "tokens", "minutes"), 0),
        valve: limit if valve == "usd" else int(limit),
    }


def walked_to_the_valve(stage: Play) -> int:
    """Calls of the llm until the valve holds the run; all there are when it holds nothing."""
    try:
        for _ in range(TURNS):
            stage.turn()
    except BudgetSpent:
        pass
    return len(stage.llm.asked)


def test_ordinary_work_is_never_taken_for_a_circle(tmp_path: Path, report: Report) -> None:
    """Scripts of all kinds and lengths, in small windows too, where what was read is read again."""
    problems, turns, sandbox, runs = [], 0, Remembering(), size(8, 200)
    for number in range(runs):
        dice = random.Random(number)
        kinds = ["errands-{}", "job-{}", "orders", "hello"]
        name = kinds[number % len(kinds)].format(dice.randint(10, size(25, 120)))
        policy, limit = (
            dice.choice(["default", "careful", "frugal", "classic"]),
            dice.choice([16, 24, 40, 80]),
        )
        try:
            done = played(name, tmp_path / str(number), sandbox, policy=policy, limit=limit * 1_000)
            turns += done.turns
        except Spinning as error:
            problems.append(f"{name} with {policy} at {limit},000: {error}")
    report("A45-ordinary", {"runs": runs, "turns": turns, "false_pauses": len(problems)}, problems)
