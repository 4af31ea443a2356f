"""A summary that fails changes nothing but the decision log; what happens when it keeps failing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from runs.engine.errors import (
    BadRequest,
    Cancelled,
    Overloaded,
    PromptTooLong,
    Rejected,
    StreamCut,
    Unreachable,
)
from runs.engine.events import Checked, CompactionFailed, Delta, Event, Form, Trigger, WindowEdited
from runs.engine.messages import Author, Kind, Role, canonical, text
from runs.engine.middleware.base import Asked
from runs.engine.ports import Answer, Cancel, Request
from tests.cases.ground import CannedLlm, Ground
from tests.cases.structure import problems

from ..stage import add, gave, laid, lines, of, summary, talk, thought, use
from .test_compact import BY_ADA, before_call, compact, full, walk

SEVEN: dict[str, list[tuple[dict[str, Any], str]]] = {
    "empty": [
        (summary(""), "empty summary"),
        (summary("  \n "), "empty summary"),
        ({"content": [], "stop_reason": "end_turn"}, "empty summary"),
        (summary('<invoke name="read_file">'), "empty summary"),
    ],
    "thinking only": [({"content": [thought("I think so.")], "stop_reason": "end_turn"}, "empty summary")],
    "a tool call": [({"content": [use("z1")], "stop_reason": "tool_use"}, "a tool call came")],
    "cut off": [
        (summary("It was a dark and", "max_tokens"), "cut off (max_tokens)"),
        (summary("It was", "model_context_window_exceeded"), "cut off (model_context_window_exceeded)"),
    ],
    "refused": [(summary("No.", "refusal"), "refused")],
    "larger than what it replaces": [(summary("word " * 30_000), "would not help")],
}
"""The ways a summary fails. The seventh is trouble on the way (an error, a cut stream, a time-out): below. Nothing to
summarise asks nobody: test_compact."""

BAD = [(name, *one) for name, ways in SEVEN.items() for one in ways]


@pytest.mark.parametrize(("way", "reply", "says"), BAD)
def test_a_bad_summary_changes_nothing_and_says_why(way: str, reply: dict[str, Any], says: str) -> None:
    ground = full(replies=[reply])
    before = canonical(ground.request())
    failed = of(CompactionFailed, compact(ground))[0]
    assert says in failed.why
    assert failed.order == 7
    assert canonical(ground.request()) == before
    assert ground.desk.window.version.number == 1
    assert ground.desk.numbers.edit == 2, "the failed attempt has a number of its own"
    assert (failed.cost > 0) == (failed.usage.prompt > 0)


def test_a_bad_answer_is_asked_again_once_as_a_transcript_without_tools() -> None:
    ground = full(replies=[summary(""), summary("Better.")])
    (event,) = of(WindowEdited, compact(ground))
    first, second = (json.loads(request.body) for request in ground.llm.asked)
    assert first["tools"]
    assert "tools" not in second
    assert len(second["messages"]) == 1
    assert event.edit.usage.prompt == sum(len(request.body) // 4 for request in ground.llm.asked), (
        "both are paid"
    )


def test_trouble_of_the_api_is_not_asked_again_at_once() -> None:
    ground = full()
    ground.llm.error = {"error": "overloaded", "after_text": "It was a"}
    failed = of(CompactionFailed, compact(ground))[0]
    assert failed.why == "summary failed: overloaded"
    assert len(ground.llm.asked) == 1


TROUBLE = {
    "cut off": StreamCut("The stream broke off."),
    "overloaded": Overloaded("overloaded", status=529),
    "too many requests": Overloaded("slow down", status=429, retry_after=9.0),
    "no server": Unreachable("nobody there"),
    "a bad key": Rejected("401", status=401),
    "refused as invalid": BadRequest("400", status=400),
    "too long for the server": PromptTooLong("prompt is too long: 9 tokens > 8 maximum", status=400),
    "no answer at all": None,
}


@pytest.mark.parametrize("what", TROUBLE)
def test_trouble_on_the_way_changes_nothing_and_what_was_typed_is_thrown_away(what: str) -> None:
    class Troubled(CannedLlm):
        def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
            self.asked.append(request)
            yield Delta(text="The person wanted")
            if error := TROUBLE[what]:
                raise error

    ground = full()
    ground.desk.llm = ground.llm = Troubled(ground.llm.capability)
    before = canonical(ground.request())
    failed = of(CompactionFailed, compact(ground))[0]
    assert failed.why.startswith("summary ")
    assert canonical(ground.request()) == before
    assert len(ground.llm.asked) == (2 if isinstance(TROUBLE[what], BadRequest) else 1)


def test_a_stop_in_the_middle_leaves_the_window_and_one_line() -> None:
    class Stopped(CannedLlm):
        def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
            yield Delta(text="It was")
            raise Cancelled("stop_now")

    ground = full()
    ground.desk.llm = Stopped(ground.llm.capability)
    events: list[Event] = []
    with pytest.raises(Cancelled):
        events.extend(ground.technique("compact").compact(BY_ADA))
    assert of(CompactionFailed, events)[0].why == "cancelled"
    assert ground.desk.window.version.number == 1
    assert ground.desk.numbers.edit == 2


def test_a_prompt_file_that_is_gone_is_a_failed_compaction_and_not_the_end() -> None:
    ground = full(compact={"prompt": "/nowhere/prompt.md"})
    failed = of(CompactionFailed, compact(ground))[0]
    assert "/nowhere/prompt.md" in failed.why
    assert ground.llm.asked == []


def failing(**sections: Any) -> Ground:
    ground = full(**sections)
    ground.llm.error = {"error": "overloaded"}
    return ground


def test_by_itself_a_failure_clears_old_results_deep_instead() -> None:
    ground = failing()
    checked, _, failed, edited = before_call(ground)
    assert isinstance(checked, Checked)
    assert isinstance(failed, CompactionFailed)
    assert isinstance(edited, WindowEdited)
    assert (edited.edit.kind, edited.edit.trigger) == ("clear_results", Trigger.FALLBACK)
    assert "the summary failed" in edited.edit.reason
    assert (failed.edit, edited.edit.number) == (1, 2)


def test_asked_by_a_person_a_failure_clears_nothing() -> None:
    ground = failing()
    compact(ground)
    assert of(WindowEdited, ground.events) == []
    assert ground.desk.record.failures == 0


def test_the_next_paid_attempt_waits_two_to_the_n_turns() -> None:
    ground = failing(turns=12, clear={"exclude": ["read_file"]})
    asked = []
    for _ in range(20):
        before_call(ground)
        walk(ground, size=1)
        asked.append(len(ground.llm.asked))
    attempts = [at for at in range(20) if asked[at] > (asked[at - 1] if at else 0)]
    assert attempts == [0, 2, 6, 14]


def test_a_success_makes_it_patient_no_longer() -> None:
    ground = failing(clear={"exclude": ["read_file"]})
    before_call(ground)
    ground.llm.error = None
    walk(ground, size=1, count=2)
    assert of(WindowEdited, before_call(ground))
    assert ground.desk.record.failures == 0


def test_at_the_hard_mark_an_episode_made_by_code_takes_its_place() -> None:
    ground = failing(clear={"exclude": ["read_file"]})
    before_call(ground)
    walk(ground, count=8)
    assert ground.desk.share() > 0.85
    asked = len(ground.llm.asked)
    edit = of(WindowEdited, before_call(ground))[0].edit
    assert (edit.kind, edit.trigger, edit.cost) == ("compact", Trigger.FALLBACK, 0)
    assert len(ground.llm.asked) == asked, "no llm is asked"
    assert edit.tokens_after <= ground.desk.mark // 2
    assert edit.episode is not None
    assert "found by code" in edit.episode.text
    assert ground.desk.record.failures == 1, "a fallback is no success"


def test_at_the_hard_mark_the_first_failure_is_helped_in_the_same_turn() -> None:
    ground = failing(clear={"exclude": ["read_file"]})
    walk(ground, count=8)
    assert ground.desk.share() > 0.85
    kinds = [type(event) for event in before_call(ground)]
    assert kinds.count(CompactionFailed) == 1
    assert of(WindowEdited, ground.events)[0].edit.trigger is Trigger.FALLBACK
    assert ground.desk.share() < 0.5


def planted(ground: Ground, at: int) -> None:
    add(
        ground,
        Role.ASSISTANT,
        Author.LLM,
        Kind.ANSWER,
        [text(f"I look at {at}"), use(f"f{at}", path=f"p{at}.py")],
    )
    body = f"{lines(str(at), 40)}\nFACT-{at}: the lamp {at} stands on shelf {at * 7}\n{lines(f'b{at}', 40)}"
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(f"f{at}", body)])


def test_while_summaries_fail_for_good_the_run_lives_and_planted_facts_stay_in_view() -> None:
    """Trap 7: clearing by plain markers left one or two of nine facts."""
    ground = laid(talk(1), limit=20_000)
    ground.llm.error = {"error": "overloaded"}
    facts = [4, 9, 14, 19, 24, 29, 34, 39, 44]
    for at in range(1, 61):
        if at in facts:
            planted(ground, at)
            ground.desk.turn += 1
        else:
            walk(ground, size=70)
        for name in ("offload", "clear_results"):
            ground.take(ground.technique(name).before_call(ground.desk.window))
        before_call(ground)
        assert ground.desk.share() < 1
        assert problems(ground.request()["messages"]) == []
    body = json.dumps(ground.request())
    assert [at for at in facts if f"FACT-{at}: the lamp {at} stands on shelf {at * 7}" in body] == facts
    assert len(ground.llm.asked) <= 7


@pytest.mark.parametrize("method", ["clear", "both"])
def test_by_every_method_a_run_with_room_left_never_dies_of_memory(method: str) -> None:
    ground = laid(talk(1), replies=["Short."], compact={"method": method, "min_new_turns": 3})
    for at in range(80):
        walk(ground, size=70 if at % 9 else 150)
        for name in ("offload", "compact"):
            technique = ground.technique(name)
            ground.take(technique.before_call(ground.desk.window))
        assert ground.desk.share() < 1
    assert len(of(CompactionFailed, ground.events)) == 0
    edits = of(WindowEdited, ground.events)
    assert 4 <= len(edits) <= 40


def test_clearing_by_policy_waits_for_new_turns_as_well() -> None:
    """One more result cleared every turn would rewrite the cache every turn."""
    ground = laid(talk(14, size=80), compact={"method": "clear", "min_new_turns": 4})
    before_call(ground)
    assert len(of(WindowEdited, ground.events)) == 1
    for _ in range(2):
        walk(ground, size=350)
    assert 0.6 < ground.desk.share() < 0.85
    assert "only 2 new turns" in of(Checked, before_call(ground))[0].why
    assert [entry.form for entry in ground.desk.window].count(Form.CLEARED) == 11


def test_asked_the_same_way_twice_it_does_the_same() -> None:
    first, second = full(turns=6), full(turns=6)
    for ground in (first, second):
        compact(ground, Asked(keep=2))
    assert canonical(first.request()) == canonical(second.request())
