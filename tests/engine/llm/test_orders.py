"""The demo's script is a real piece of work: red before, green after, whatever the size of the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.engine.events import CallEnded, CallStatus, TurnAnswered
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.play import play as answer
from runs.engine.llm.rehearsal.scripts.orders import changes
from runs.engine.llm.rehearsal.wire import Place
from runs.engine.messages import result_text, texts_of

from .playing import Played, Remembering, contents, play, shell

SUITE = "python3 -m unittest"


@pytest.fixture(scope="module")
def sandbox() -> Remembering:
    return Remembering()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, sandbox: Remembering) -> Played:
    return play("orders", tmp_path_factory.mktemp("demo"), sandbox, policy="demo", limit=24_000)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory, sandbox: Remembering) -> Played:
    return play("orders", tmp_path_factory.mktemp("tight"), sandbox, policy="default", limit=16_000)


def test_its_tests_are_red_before(tmp_path: Path) -> None:
    scripts.get("orders").make_workspace(tmp_path)
    code, output = shell(SUITE, tmp_path)
    assert (code, output.splitlines()[-1]) == (1, "FAILED (failures=6)")


def test_its_tests_are_green_after(demo: Played) -> None:
    code, output = shell(SUITE, demo.workspace)
    assert (code, output.splitlines()[-1]) == (0, "OK")


def test_it_plays_all_its_steps_and_says_what_it_did(demo: Played) -> None:
    assert demo.turns == demo.script.length
    assert 60 <= demo.turns <= 120
    assert "no longer promises a piece twice" in texts_of(demo.messages[-1].content)


def test_the_tests_that_were_there_are_unchanged(demo: Played, tmp_path: Path) -> None:
    demo.script.make_workspace(tmp_path)
    laid_out, now = contents(tmp_path), contents(demo.workspace)
    assert {path for path in laid_out if path.startswith("tests/") and laid_out[path] != now[path]} == set()
    assert now.keys() - laid_out.keys() == {
        "docs/incident-2031.md",
        "tests/test_retry.py",
        "tests/test_settle.py",
    }


def test_the_small_window_is_cleared_and_compacted_the_large_one_never(
    demo: Played, tight: Played, sandbox: Remembering, tmp_path: Path
) -> None:
    wide = play("orders", tmp_path, sandbox, policy="default", limit=200_000)
    assert demo.edits["clear_results"] >= 2
    assert demo.edits["compact"] >= 3
    assert demo.edits["offload"] >= 1
    assert tight.edits["compact"] > demo.edits["compact"]
    assert wide.edits.keys() <= {"offload"}
    assert max(tight.largest, demo.largest) <= 24_000 < wide.largest < 200_000
    final = {path: contents(demo.workspace)[path] for path in changes.CHANGED}
    for other in (tight, wide):
        assert {path: contents(other.workspace)[path] for path in changes.CHANGED} == final


def test_forgetting_costs_calls_that_can_be_seen(demo: Played, tight: Played) -> None:
    assert calls_of(tight) > calls_of(demo) >= sum(len(step(demo, turn)) for turn in range(1, demo.turns + 1))


def calls_of(played: Played) -> int:
    return sum(len(event.calls) for event in played.events if isinstance(event, TurnAnswered))


def step(played: Played, turn: int) -> tuple[object, ...]:
    return played.script.step(turn).calls


def test_it_never_calls_a_tool_in_vain(demo: Played) -> None:
    """Its mistakes are in the commands' results, where they belong, not in how it uses its tools."""
    wrong = [
        event for event in demo.events if isinstance(event, CallEnded) and event.status is not CallStatus.DONE
    ]
    assert [(event.turn, result_text(event.result)[:100]) for event in wrong] == []


def test_some_turns_call_in_parallel_and_some_think(demo: Played) -> None:
    steps = [demo.script.step(turn) for turn in range(1, demo.turns + 1)]
    assert sum(len(step.calls) > 1 for step in steps) >= 10
    assert sum(bool(step.thinks) for step in steps) >= 10


def test_the_changed_files_end_as_the_script_says(demo: Played) -> None:
    for path in changes.CHANGED:
        assert (demo.workspace / path).read_text(encoding="utf-8") == changes.final(path)


def test_a_step_that_never_ran_is_made_good_in_the_end(tmp_path: Path) -> None:
    """An edit went missing (a person said: skip): the last runs see red and write the files as they have to be."""
    script = scripts.get("orders")
    turn = next(turn for turn in range(1, script.length) if script.step(turn).mends)
    red = {"type": "tool_result", "tool_use_id": "t1", "content": "FAILED (failures=1)"}
    said = answer(script, Place(slug="r-1", turn=turn), [{"role": "user", "content": [red]}])
    written = {block["input"]["path"] for block in said.content if block.get("name") == "write_file"}
    assert written == set(changes.CHANGED)
