"""Clear results: seldom and deep, or not at all."""

from __future__ import annotations

from runs.engine.events import Checked, Form, Trigger, WindowEdited
from runs.engine.messages import Author, Kind, Role, canonical, text
from runs.engine.middleware.base import Asked
from tests.cases.ground import Ground

from ..stage import add, gave, laid, lines, measured, of, talk, use


def fired(ground: Ground) -> list[Checked | WindowEdited]:
    seen = len(ground.events)
    ground.take(ground.technique("clear_results").before_call(ground.desk.window))
    return ground.events[seen:]  # type: ignore[return-value]


def cleared(ground: Ground) -> list[int]:
    return [entry.message.number for entry in ground.desk.window if entry.form is Form.CLEARED]


def test_below_the_mark_nothing_is_cleared_and_the_decision_is_told() -> None:
    ground = laid(talk(3))
    before = canonical(ground.request())
    (checked,) = fired(ground)
    assert isinstance(checked, Checked)
    assert (checked.verdict, checked.threshold) == ("not fired", 0.6)
    assert checked.why.endswith("< 60 %")
    assert canonical(ground.request()) == before


def test_at_the_mark_all_but_the_last_results_are_cleared_in_one_batch() -> None:
    ground = laid(talk(12, size=100), limit=20_000)
    checked, edited = fired(ground)
    assert isinstance(checked, Checked)
    assert isinstance(edited, WindowEdited)
    assert checked.verdict == "fired"
    assert cleared(ground) == [3 + 2 * at for at in range(9)]
    assert edited.edit.tokens_before - edited.edit.tokens_after >= 0.7 * ground.desk.mark
    assert edited.edit.frees["results"] > 0 > edited.edit.frees["stubs"]


def test_a_batch_that_would_free_too_little_is_left_to_compact() -> None:
    ground = laid(talk(12, size=100), limit=20_000, clear={"keep": 8})
    (checked,) = fired(ground)
    assert isinstance(checked, Checked)
    assert "left to compact" in checked.why
    assert cleared(ground) == []


def test_fewer_results_than_are_kept_are_all_kept() -> None:
    ground = laid(talk(2, size=100))
    ground.take(ground.technique("clear_results").clear(Asked(keep=3)))
    assert cleared(ground) == []
    assert ground.events == []


def test_by_order_the_gate_is_skipped() -> None:
    ground = laid(talk(3, size=100))
    asked = Asked(trigger=Trigger.PERSON, keep=1, order=7, by="Ada", reason="by order")
    ground.take(ground.technique("clear_results").clear(asked))
    (event,) = of(WindowEdited, ground.events)
    assert (event.edit.trigger, event.edit.order, event.edit.by) == (Trigger.PERSON, 7, "Ada")
    assert cleared(ground) == [3, 5]


def test_clearing_again_changes_nothing() -> None:
    ground = laid(talk(6, size=100))
    for _ in range(2):
        ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    assert len(ground.events) == 1


def test_pinned_results_and_those_of_memory_stay() -> None:
    ground = laid(talk(3, size=100))
    number = ground.desk.numbers.message
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("hm"), use("m", "recall", query="lamp")])
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave("m", lines("m", 100))])
    ground.take(ground.technique("clear_results").clear(Asked(keep=0)))
    assert number + 1 not in cleared(ground)
    assert len(cleared(ground)) == 3


def test_bound_thinking_behind_the_first_cleared_result_goes_and_nothing_before_it() -> None:
    ground = laid(talk(5, size=100, thinking=True), thinking="bound")
    ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
    answers = [entry for entry in ground.desk.window if entry.message.kind is Kind.ANSWER]
    assert [entry.form for entry in answers] == [Form.FULL, *[Form.CLEARED] * 4]


def test_thinking_that_is_not_bound_stays_byte_for_byte() -> None:
    for kind in ("none", "adaptive"):
        ground = laid(talk(5, size=100, thinking=True), thinking=kind)
        ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
        answers = [entry for entry in ground.desk.window if entry.message.kind is Kind.ANSWER]
        assert {entry.form for entry in answers} == {Form.FULL}


def test_clearings_are_rare_the_prefix_stands_between_them() -> None:
    """One more old result a turn rewrites the cache every turn."""
    ground = laid(talk(1, size=100), limit=20_000)
    for at in range(40):
        add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("I look"), use(f"n{at}")])
        add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(f"n{at}", lines(str(at), 100))])
        measured(ground)
        fired(ground)
    assert 3 <= len(of(WindowEdited, ground.events)) <= 6
