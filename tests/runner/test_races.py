"""Two who want the same thing of one run at the same moment: one worker walks it, one compaction is made."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from runs import control, runner
from runs.models import Edit, Event, Message, Order, Run, Turn
from runs.store.verify import verify
from tests.builders import a_person
from tests.conftest import wait_until

from .conftest import Walk

Begin = Callable[..., Run]
pytestmark = pytest.mark.usefixtures("one_turn_a_slice")


def together(*acts: Callable[[], object]) -> list[BaseException]:
    """Each in a thread of its own, let go at the same moment. What they raised."""
    gate, raised = threading.Barrier(len(acts)), list[BaseException]()

    def run(act: Callable[[], object]) -> None:
        gate.wait()
        try:
            act()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize("workers", [2, 5])
def test_of_workers_that_come_at_once_one_asks_the_llm(begin: Begin, workers: int) -> None:
    run = begin()
    assert together(*[lambda: runner.advance(run.pk)] * workers) == []
    assert [(turn.number, turn.attempt) for turn in Turn.objects.filter(run=run)] == [(1, 1)]
    assert verify(Run.objects.get(pk=run.pk)).ok


def test_compact_pressed_twice_while_the_llm_answers_is_one_compaction_after_the_turn(
    begin: Begin, walk: Walk
) -> None:
    run = begin("rehearsal/job-60+slow:200@7", limit=60_000)
    for _ in range(6):
        runner.advance(run.pk)
    pressed: list[Order] = []

    def press() -> None:
        wait_until(lambda: Turn.objects.filter(run=run, number=7, status="open").exists(), what="turn 7")
        pressed.extend(control.order(a_person(), run, "compact", {"keep": 2}) for _ in range(2))

    assert together(lambda: runner.advance(run.pk), press) == []
    runner.advance(run.pk)
    assert pressed[0].pk == pressed[1].pk
    assert pressed[1].reason.startswith("already requested")
    edits = Edit.objects.filter(run=run, kind="compact")
    assert [(edit.state, edit.order_id) for edit in edits] == [("applied", pressed[0].pk)]
    edited = Event.objects.get(run=run, kind="window.edited", data__kind="compact")
    assert edited.seq > Event.objects.get(run=run, kind="turn.closed", turn=7).seq
    answers = Message.objects.filter(run=run, kind="answer").values_list("turn", flat=True)
    assert list(answers)[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert verify(Run.objects.get(pk=run.pk)).ok
