"""Recall: what left the window is one call away."""

from __future__ import annotations

import json

from runs.engine import tokens
from runs.engine.middleware.base import Asked
from runs.engine.ports import ToolResult

from ..stage import Play, Probe, answer, lines, play, use


def forgotten(*more: object, **sections: object) -> Play:
    """A fact of turn 1 that has left the window."""
    body = lines("before", 40) + "\nthe lamp stands on shelf four\n" + lines("after", 40)
    results = iter([body, *(lines(str(at), 5) for at in range(5))])
    probe = Probe(does=lambda context: ToolResult(content=next(results)))
    looks = [answer(f"Look {at}.", use(f"l{at}", "probe")) for at in range(5)]
    stage = play(*looks, answer("Some work was done."), *more, tools=[probe], **sections)  # type: ignore[arg-type]
    for _ in range(5):
        stage.turn()
    stage.take(stage.agent.compact(Asked(keep=2)))
    assert "shelf four" not in json.dumps(stage.window())
    return stage


def test_a_search_finds_it_with_its_turn_in_whole_lines() -> None:
    """Trap 5: cut by tokens, a fact comes back in halves."""
    stage = forgotten(answer(use("r", "recall", query="shelf four")))
    stage.turn()
    found = stage.results()[0]["content"]
    assert "turn 1" in found
    assert "before line 39 says corridor\nthe lamp stands on shelf four\nafter line 0" in found


def test_read_archive_shows_the_turn_word_for_word() -> None:
    stage = forgotten(answer(use("r", "read_archive", turn=1)))
    stage.turn()
    assert "before line 3 says corridor\nbefore line 4" in stage.results()[0]["content"]


def test_what_comes_back_is_bounded_by_the_policy() -> None:
    stage = forgotten(answer(use("r", "recall", query="corridor", k=50)), recall={"tokens": 300})
    stage.turn()
    assert tokens.estimate(str(stage.results()[0]["content"])) < 400


def test_the_system_prompt_and_the_head_name_the_two_tools() -> None:
    stage = forgotten(answer("Done."))
    stage.turn()
    body = stage.bodies()[-1]
    assert "read_archive(turn) shows it whole" in body["system"][0]["text"]
    assert "recall(query), read_archive(turn)" in json.dumps(body["messages"][0])
