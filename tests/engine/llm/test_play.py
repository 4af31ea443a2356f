"""Turn n plays step n. What a step misses it fetches again; what a person said is answered."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.llm.rehearsal.play import news, play
from runs.engine.llm.rehearsal.script import Call, Need, Script, Step, played
from runs.engine.llm.rehearsal.wire import Place, Said, place_of

READ = Call(name="read_file", input={"path": "a.py"})
EDIT = Call(name="edit_file", input={"path": "a.py", "old": "x", "new": "y"})
STEPS = (
    Step(says="I read.", calls=(READ,), thinks="It must be in a.py."),
    Step(says="I edit.", calls=(EDIT,), needs=(Need(fact="x = 1", by=READ),), must=True),
    Step(
        says="I look around.",
        calls=(Call(name="list_files", input={"path": "."}),),
        mends="FAILED",
        mend=(EDIT,),
    ),
    Step(says="Done."),
)
SCRIPT = Script(
    name="s", title="S", goal="Edit a.py.", length=4, step=played(STEPS, Step(says="Still done."))
)
GOAL = {"role": "user", "content": "Edit a.py."}


def results(content: str, *texts: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": "t1", "content": content}]
    return {"role": "user", "content": [*blocks, *({"type": "text", "text": text} for text in texts)]}


def answered(turn: int, *messages: dict[str, Any]) -> Said:
    return play(SCRIPT, Place(slug="r-1", turn=turn), [GOAL, *messages])


def words(said: Said) -> str:
    return " ".join(block["text"] for block in said.content if block["type"] == "text")


def calls(said: Said) -> list[str]:
    return [block["name"] for block in said.content if block["type"] == "tool_use"]


def test_the_place_comes_with_the_request() -> None:
    assert place_of({"metadata": {"user_id": "r-ab:12"}}) == Place(slug="r-ab", turn=12)
    assert place_of({"metadata": {"user_id": "r-ab:12:summary"}}) == Place(slug="r-ab", turn=12, summary=True)


def test_another_client_is_placed_by_the_answers_it_sends() -> None:
    messages = [GOAL, {"role": "assistant", "content": "x"}, GOAL]
    assert place_of({"messages": messages}).turn == 2


def test_the_same_turn_is_played_the_same_however_often() -> None:
    once = answered(2, results("x = 1"))
    assert once == answered(2, results("x = 1"))
    assert calls(once) == ["edit_file"]


def test_no_two_calls_of_a_run_have_one_id() -> None:
    ids = [
        block["id"] for turn in (1, 2, 3) for block in answered(turn).content if block["type"] == "tool_use"
    ]
    assert len(ids) == len(set(ids)) == 4


def test_what_is_out_of_sight_is_read_again_in_the_same_turn() -> None:
    said = answered(2, results("something else"))
    assert calls(said) == ["read_file", "edit_file"]
    assert "I no longer have a.py in front of me" in words(said)


def test_the_last_step_ends_the_run_and_so_does_all_that_follows() -> None:
    assert answered(4, results("ok")).stop_reason == "end_turn"
    assert words(answered(9, results("ok"))) == "Still done."


def test_a_disturbed_work_is_mended() -> None:
    assert calls(answered(3, results("FAILED (failures=1)"))) == ["edit_file"]
    assert calls(answered(3, results("OK"))) == ["list_files"]


def test_a_person_is_quoted() -> None:
    said = answered(3, results("ok", "Please mind the cat."))
    assert words(said).startswith("You wrote: “Please mind the cat.”")
    assert calls(said) == ["list_files"]


@pytest.mark.parametrize("wish", ["Stop here, please.", "stop after this"])
def test_stop_ends_the_run(wish: str) -> None:
    said = answered(2, results("x = 1", wish))
    assert said.stop_reason == "end_turn"
    assert "I stop here" in words(said)


def test_skip_leaves_a_step_out_unless_the_rest_depends_on_it() -> None:
    assert calls(answered(1, results("ok", "Skip that."))) == ["list_files"]
    said = answered(2, results("x = 1", "Skip that."))
    assert calls(said) == ["edit_file"]
    assert "depends on this step" in words(said)


def test_redo_plays_the_step_before_as_well() -> None:
    assert calls(answered(3, results("ok", "Redo the edit."))) == ["edit_file", "list_files"]


def test_explain_gives_the_reasons() -> None:
    assert "It must be in a.py." in words(answered(1, results("ok", "Explain that to me.")))


def test_a_say_after_the_end_is_answered() -> None:
    said = answered(5, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thank you!"})
    assert words(said).startswith("You wrote: “Thank you!”")


def test_the_goal_and_what_the_product_adds_are_no_news() -> None:
    assert news([GOAL]) == ""
    opened = [
        "Edit a.py.",
        "<notes>\n- a\n</notes>",
        '<summary turns="1-9">x</summary>',
        "Continue the work.",
    ]
    first = {"role": "user", "content": [{"type": "text", "text": text} for text in opened]}
    assert news([first]) == ""
    first["content"].append({"type": "text", "text": "Mind the cat."})
    assert news([first]) == "Mind the cat."
    told = "The last 3 calls of read_file were the same and gave the same result. Try something else."
    assert news([GOAL, results("ok", told)]) == ""
