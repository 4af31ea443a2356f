"""run_command: how a command's end is told."""

from __future__ import annotations

import pytest

from runs.engine.events import Effect
from runs.engine.ports import Cancel
from runs.engine.sandbox import Off
from runs.engine.spool import Spool
from runs.engine.tools import key_of

from .conftest import Bench


def title_of(text: str) -> str:
    return text.split("\n", 1)[0]


def test_exit_code_size_and_output_are_told(bench: Bench) -> None:
    said = bench.says("run_command", command="echo one; echo two >&2; exit 3")
    title, _, output = said.partition("\n")
    assert title.startswith("exit code 3 · ")
    assert title.endswith(" s · 8 bytes, 0 omitted")
    assert output == "one\ntwo"


def test_a_command_that_prints_nothing_says_so_by_its_size(bench: Bench) -> None:
    assert title_of(bench.says("run_command", command="true")).endswith("0 bytes, 0 omitted")


def test_long_output_can_be_read_whole(bench: Bench) -> None:
    result = bench(
        "run_command",
        command="python3 -c \"print('x' * 99 + chr(10), end='') or [print('y' * 99) for _ in range(999)]\"",
    )
    assert isinstance(result.content, str)
    assert result.raw_bytes == 100_000
    assert "100,000 bytes, 68,000 omitted" in result.content
    assert result.spill is not None
    name = next(line for line in result.content.split("\n") if line.startswith("The whole output")).split()[
        -1
    ]
    assert name.startswith("@run/output/")
    assert bench.files.read(name.removeprefix("@run/")) == "x" * 99 + "\n" + ("y" * 99 + "\n") * 999
    assert "lines 1-300 of 1000" in bench.says("read_file", path=name)


def test_running_out_of_time_is_an_error_with_the_cure(bench: Bench) -> None:
    result = bench("run_command", command="echo begun; sleep 30", timeout=0.3)
    assert (result.status, result.is_error) == ("timeout", True)
    assert "it ran longer than 0.3 s. Run less of it, or give a longer timeout" in str(result.content)
    assert "begun" in str(result.content)


def test_a_cancelled_command_is_killed_and_says_why(bench: Bench) -> None:
    bench.cancel = Cancel()
    bench.cancel("stopped by Ada")
    result = bench("run_command", command="sleep 30")
    assert (result.status, result.is_error) == ("killed", True)
    assert "stopped by Ada" in str(result.content)


def test_without_a_sandbox_nothing_runs_and_the_cure_is_told(bench: Bench) -> None:
    bench.sandbox = Off(why="The shell tool is off: bwrap not found. Install it.")
    assert bench.refuses("run_command", command="touch evil") == (
        "The command was not run. The shell tool is off: bwrap not found. Install it."
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"command": ""},
        {"command": "ls", "timeout": 0},
        {"command": "ls", "timeout": 601},
        {"command": "ls", "sandbox": False},
    ],
)
def test_bad_input_is_refused(bench: Bench, given: dict[str, object]) -> None:
    assert "does not fit run_command" in bench.refuses("run_command", **given)


def test_a_command_too_long_for_the_system_is_refused_with_a_way(bench: Bench) -> None:
    assert "Write it to a file" in bench.refuses("run_command", command="echo " + "x" * 100_001)


def test_a_command_with_nul_or_half_a_character_still_runs(bench: Bench) -> None:
    assert bench.says("run_command", command="echo 'a\x00b\ud800'").endswith("a\u2400b\ufffd")


def test_the_outcome_of_a_command_whose_worker_died_is_found(bench: Bench) -> None:
    first = bench.call("toolu_x", "run_command", {"command": "echo done; exit 2"})
    call = bench.toolbox.plan(bench.turn, "r-abcde", {"id": "toolu_x", "name": "run_command", "input": {}})
    found = bench.toolbox.recovered(call, bench.context(call.key), "12:03:11")
    assert found == first


def test_a_command_that_was_begun_and_has_no_end_is_unknown_and_not_run_again(bench: Bench) -> None:
    key = key_of("r-abcde", bench.turn, "toolu_x")
    Spool(bench.spool).start(key)
    call = bench.toolbox.plan(bench.turn, "r-abcde", {"id": "toolu_x", "name": "run_command", "input": {}})
    assert call.effect is Effect.EFFECTFUL
    found = bench.toolbox.recovered(call, bench.context(key), "12:03:11")
    assert found is not None
    assert (found.status, found.is_error) == ("unknown", True)
    assert str(found.content).startswith(
        "Outcome unknown: the worker stopped while this call was running (started 12:03:11)."
    )
