"""The toolbox: schemas in a fixed order, calls planned, bad calls answered in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.errors import Cancelled
from runs.engine.events import Effect
from runs.engine.messages import canonical
from runs.engine.ports import ToolContext, ToolResult
from runs.engine.tools import Toolbox, key_of, standard
from runs.engine.tools.base import Given

from .conftest import Bench

NAMES = ("list_files", "read_file", "write_file", "edit_file", "search_files", "run_command")


class Odd:
    """A tool that does what its input says."""

    name = "odd"
    description = "Odd."
    effect = Effect.PURE

    class Input(Given):
        number: int
        text: str = ""

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if given.text == "raise":
            raise RuntimeError("no such thing\nTraceback (most recent call last)")
        if given.text == "cancel":
            raise Cancelled
        return ToolResult(content=given.text)


@pytest.fixture
def odd(bench: Bench) -> Bench:
    bench.toolbox = Toolbox([*standard(), Odd()])
    return bench


def test_schemas_are_what_the_api_wants_always_the_same_bytes() -> None:
    schemas = Toolbox(standard()).schemas()
    assert tuple(schema["name"] for schema in schemas) == NAMES
    assert canonical(list(schemas)) == canonical(list(Toolbox(standard()).schemas()))
    for schema in schemas:
        assert set(schema) == {"name", "description", "input_schema"}
        assert schema["input_schema"]["additionalProperties"] is False
        assert schema["input_schema"]["type"] == "object"


def test_every_description_says_what_comes_back() -> None:
    for tool in Toolbox(standard()).tools:
        assert len(tool.description) > 100
        assert (
            "ack com" in tool.description
            or "result" in tool.description
            or "size of each" in tool.description
        )


def test_effects_are_declared() -> None:
    effects = {tool.name: tool.effect for tool in Toolbox(standard()).tools}
    assert {name for name in NAMES if effects[name] is Effect.PURE} == {
        "list_files",
        "read_file",
        "search_files",
    }
    assert {name for name in NAMES if effects[name] is Effect.IDEMPOTENT} == {"write_file", "edit_file"}
    assert effects["run_command"] is Effect.EFFECTFUL


def test_a_call_is_planned_with_effect_hash_and_key() -> None:
    box = Toolbox(standard())
    block = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "write_file",
        "input": {"path": "a", "content": "x"},
    }
    call = box.plan(4, "r-abcde", block)
    assert (call.id, call.name, call.effect) == ("toolu_1", "write_file", Effect.IDEMPOTENT)
    assert call.key == key_of("r-abcde", 4, "toolu_1") == box.plan(4, "r-abcde", block).key
    other = dict(block, input={"content": "x", "path": "a"})
    assert box.plan(4, "r-abcde", other).input_sha256 == call.input_sha256
    keys = {key_of("r-abcde", 4, "toolu_1"), key_of("r-abcde", 5, "toolu_1"), key_of("r-other", 4, "toolu_1")}
    assert len(keys | {key_of("r-abcde", 4, "toolu_2")}) == 4


def test_an_unknown_tool_is_answered_with_the_names_the_closest_first(bench: Bench) -> None:
    assert bench.refuses("raed_file", path="x").startswith(
        "There is no tool named 'raed_file'. The tools are: read_file, "
    )
    said = bench.refuses("x" * 5000)
    assert all(name in said for name in NAMES)
    assert len(said) < 500


@pytest.mark.parametrize(
    "given", [None, [], "text", 7, {}, {"number": "x"}, {"number": 1, "more": 2}, {"number": [[]] * 9}]
)
def test_input_that_does_not_fit_is_answered_with_complaint_and_schema(odd: Bench, given: Any) -> None:
    result = odd.call("t", "odd", given)
    assert result.is_error
    assert "does not fit odd" in str(result.content)
    assert '"additionalProperties": false' in str(result.content)
    assert "Nothing was run" in str(result.content)


def test_at_most_three_complaints_are_told(odd: Bench) -> None:
    said = odd.refuses("odd", a=1, b=2, c=3, d=4, e=5)
    assert said.split(". Nothing was run")[0].count(";") == 2


def test_a_tool_that_fails_is_answered_in_a_sentence_without_a_trace(odd: Bench) -> None:
    said = odd.refuses("odd", number=1, text="raise")
    assert said.startswith("odd failed (RuntimeError: no such thing). ")
    assert len(said.splitlines()) == 1


def test_stopping_the_run_is_not_caught(odd: Bench) -> None:
    with pytest.raises(Cancelled):
        odd("odd", number=1, text="cancel")


def test_output_passes_the_gate(odd: Bench) -> None:
    assert odd("odd", number=1, text="a\x00b\ud800").content == "a\u2400b\ufffd"


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="one name"):
        Toolbox([Odd(), Odd()])


def test_what_is_pure_or_idempotent_runs_again_after_a_crash(bench: Bench) -> None:
    for name in ("read_file", "write_file", "edit_file", "take_note"):
        call = bench.toolbox.plan(3, "r-abcde", {"id": "x", "name": name, "input": {}})
        assert bench.toolbox.recovered(call, bench.context(call.key), "12:00:00") is None
