"""Valves: counted before each call; reached, the run waits."""

from __future__ import annotations

import pytest

from runs.engine.errors import BudgetSpent
from runs.engine.events import Usage, ValveReached
from runs.engine.middleware.base import Asked
from runs.engine.ports import Answer

from ..stage import Play, answer, of, play, use


def looking(turns: int, usage: Usage | None = None) -> list[object]:
    return [answer(use(f"a{at}", "list_files", path="."), usage=usage) for at in range(turns)]


def stops(stage: Play, after: int) -> str:
    for _ in range(after):
        stage.turn()
    asked = len(stage.llm.asked)
    with pytest.raises(BudgetSpent) as caught:
        stage.turn()
    assert len(stage.llm.asked) == asked, "counted before the call"
    return str(caught.value)


def valves(**given: float) -> dict[str, object]:
    return {"valves": {"spin_pause": 0, "spin_nudge": 0, "usd": 0, **given}}


def test_turns() -> None:
    stage = play(*looking(9), **valves(turns=3))  # type: ignore[arg-type]
    sentence = "The run has used 3 turns of 3 turns. Resume opens this valve to 6 turns; or stop the run."
    assert stops(stage, 3) == sentence
    assert of(ValveReached, stage.archive.events)[0].data() == {"which": "turns"}


def test_dollars_of_lost_answers_too() -> None:
    usage = Usage(input=100_000)
    stage = play(*looking(1, usage), answer(" ", usage=usage), *looking(5, usage), **valves(usd=1.0))  # type: ignore[arg-type]
    assert "$1.00 of $1.00" in stops(stage, 2)


def test_tokens() -> None:
    stage = play(*looking(9, Usage(input=1_000, cache_read=500, output=500)), **valves(tokens=6_000))  # type: ignore[arg-type]
    assert "6,000 tokens" in stops(stage, 3)


def test_minutes_since_the_run_began() -> None:
    stage = play(*looking(9), **valves(minutes=2))  # type: ignore[arg-type]
    stage.agent.desk.spent.started_ms = 1
    stage.turn()
    stage.agent.desk.clock.sleep(121, stage.agent.desk.cancel)
    assert "2 minutes" in stops(stage, 0)


def test_zero_is_no_valve() -> None:
    stage = play(*looking(9), **valves(turns=0, tokens=0, minutes=0))  # type: ignore[arg-type]
    for _ in range(9):
        stage.turn()


def test_they_are_looked_at_before_a_technique_pays_for_a_summary() -> None:
    policy = {
        "window": {"limit": 20_000, "mark": 0.05, "hard": 0.9},
        "compact": {"min_new_turns": 0, "keep": 0.01},
    }
    stage = play(*looking(3), **{**valves(turns=3), **policy})  # type: ignore[arg-type]
    stops(stage, 3)
    assert stage.agent.techniques[0].name == "valves"


def test_what_summaries_cost_is_counted() -> None:
    usage = Usage(input=1000, output=100)
    stage = play(*looking(6), answer("A summary of it.", usage=usage), **valves())  # type: ignore[arg-type]
    for _ in range(6):
        stage.turn()
    before = stage.agent.desk.spent.cost
    stage.take(stage.agent.compact(Asked(keep=2)))
    assert stage.agent.desk.spent.cost - before == stage.agent.desk.cost(usage)


def full(*after: Answer, usd: float) -> Play:
    """Six turns that cost nothing; then the window is at its mark."""
    stage = play(*looking(6, Usage()), *after, **valves(usd=usd))  # type: ignore[arg-type]
    for _ in range(6):
        stage.turn()
    desk = stage.agent.desk
    desk.policy = desk.policy.changed(
        window={"mark": 0.01}, compact={"min_new_turns": 0, "keep": 0.0, "keep_messages": 2}
    )
    return stage


DOLLAR = Usage(input=200_000)


@pytest.mark.parametrize(("usd", "calls"), [(1.0, 1), (2.0, 2), (3.0, 3)])
def test_each_call_is_counted_before_the_next_a_summarys_too(usd: float, calls: int) -> None:
    """A summary that fails, its second try and the turn itself: never more than one call beyond the valve."""
    paid = [answer(" ", usage=DOLLAR), answer("A summary.", usage=DOLLAR), answer("On.", usage=DOLLAR)]
    stage = full(*paid, answer("never", usage=DOLLAR), usd=usd)
    asked = len(stage.llm.asked)
    if calls == 3:
        stage.turn()
    with pytest.raises(BudgetSpent):
        stage.turn()
    assert len(stage.llm.asked) - asked == calls
