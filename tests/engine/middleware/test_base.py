"""The desk: edits are drawn, then applied; money is counted; a technique that does nothing does nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs.engine.events import Form, Item, Trigger, Usage, Version, WindowEdited
from runs.engine.middleware.base import Technique, percent
from runs.engine.ports import Answer, Price, Request, ToolResult
from tests.cases.ground import Ground

from ..stage import answer, laid, measured, said, talk


def items(ground: Ground, count: int) -> list[Item]:
    return [entry.item for entry in ground.desk.window.entries[:count]]


def drawn(ground: Ground, count: int = 3) -> object:
    return ground.desk.draw(items(ground, count), (), kind="drop", method="drop", trigger=Trigger.PERSON)


def test_a_drawn_edit_changes_nothing() -> None:
    ground = laid(talk(4))
    measured(ground, 4_000)
    window, numbers, last = ground.desk.window.version, replace(ground.desk.numbers), ground.desk.gauge.last
    drawn(ground)
    assert (ground.desk.window.version, ground.desk.numbers, ground.desk.gauge.last) == (
        window,
        numbers,
        last,
    )


def test_an_edit_is_gone_on_with_only_when_it_is_stored() -> None:
    ground = laid(talk(4))
    walk = ground.desk.apply(drawn(ground))  # type: ignore[arg-type]
    event = next(walk)
    assert isinstance(event, WindowEdited)
    assert ground.desk.window.version.number == 1
    assert list(walk) == []
    assert ground.desk.window.version == event.edit.after
    assert event.edit.after == Version(
        number=2, parent=1, edit=1, base=9, items=tuple(items(laid(talk(4)), 3))
    )


def test_numbers_move_on_by_what_was_written() -> None:
    ground = laid(talk(4))
    added = ground.desk.head()
    edit = ground.desk.draw(
        [*items(ground, 3), Item(message=10)], added, kind="drop", method="", trigger=Trigger.AUTO
    )
    ground.take(ground.desk.apply(edit))
    numbers = ground.desk.numbers
    assert (numbers.message, numbers.version, numbers.edit) == (11, 3, 2)


def test_files_lie_there_before_anything_points_to_them() -> None:
    ground = laid(talk(2, size=400))
    shown = [entry.item for entry in ground.desk.window]
    shown[-1] = replace(shown[-1], form=Form.PREVIEW)
    edit = ground.desk.draw(shown, (), kind="offload", method="", trigger=Trigger.AUTO)
    assert ground.desk.files.names() == []
    next(ground.desk.apply(edit))
    assert len(ground.desk.files.names()) == 1


def test_what_a_part_loses_and_gains_is_told_and_sums_up() -> None:
    ground = laid(talk(4))
    edit = drawn(ground)
    assert sum(edit.frees.values()) == edit.tokens_before - edit.tokens_after  # type: ignore[attr-defined]


def test_prices_are_the_caches_too() -> None:
    ground = laid(talk(1))
    usage = Usage(
        input=1_000_000, output=1_000_000, cache_read=1_000_000, cache_write=600_000, cache_write_1h=400_000
    )
    assert ground.desk.cost(usage) == 5_000_000 + 25_000_000 + 500_000 + 3_750_000 + 4_000_000
    ground.llm.capability = replace(ground.llm.capability, price=None)
    assert ground.desk.cost(usage) == 0
    assert isinstance(Price(input=1, output=1, cache_read=1, cache_write=1, cache_write_1h=1), Price)


def test_every_call_is_spent_once() -> None:
    ground = laid(talk(1))
    usage = Usage(input=1_000, cache_read=500, output=100)
    cost = ground.desk.spend(usage) + ground.desk.spend(usage)
    assert (ground.desk.spent.tokens, ground.desk.spent.cost) == (3_200, cost)


@pytest.mark.parametrize("hook", ["before_call", "after_turn", "make_room"])
def test_a_technique_that_overrides_nothing_does_nothing(hook: str) -> None:
    ground = laid(talk(1))
    technique = Technique()
    technique.start(ground.desk)
    assert list(getattr(technique, hook)(ground.desk.window)) == []
    assert (technique.tools(), technique.prompt()) == ((), "")


def test_calls_go_through_it_unchanged() -> None:
    request, given = Request(body=b"{}", sha256="", turn=1), answer("hi")
    passed = list(Technique().around_call(request, lambda asked: iter([given] if asked is request else [])))
    assert passed == [given]
    assert isinstance(passed[0], Answer)
    result = ToolResult(content="ok")
    assert Technique().around_tool(None, lambda call: result) is result  # type: ignore[arg-type]


def test_the_mark_is_a_share_of_the_limit() -> None:
    ground = laid(talk(1), limit=20_000)
    assert ground.desk.mark == 12_000
    assert percent(0.604) == "60 %"
    said(ground, "x")
    assert ground.desk.share() == ground.desk.read().tokens / 20_000
