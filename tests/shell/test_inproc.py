"""The broker inside the process: what is sent is delivered at once, and a worker ends when it is asked to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from agentdash.celery import app
from agentdash.inproc import Bed
from agentdash.worker import Worker
from runs import tasks
from tests.conftest import wait_until


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Takes the place of the runner: notes which runs a slice was asked for."""
    from runs import runner

    seen: list[int] = []
    monkeypatch.setattr(runner, "advance", lambda run_id: seen.append(run_id) or False)
    return seen


@pytest.fixture
def worker(db: None) -> Iterator[Worker]:
    worker = Worker(2)
    worker.start()
    yield worker
    worker.stop()


def test_a_hint_reaches_the_worker(heard: list[int], worker: Worker) -> None:
    tasks.hint(7)
    wait_until(lambda: 7 in heard, what="the hint")


def test_hints_from_many_threads_all_arrive(heard: list[int], worker: Worker) -> None:
    def ten(first: int) -> None:
        for number in range(first, first + 10):
            tasks.hint(number)

    threads = [threading.Thread(target=ten, args=(first,)) for first in range(100, 200, 10)]
    for thread in threads:
        thread.start()
    wait_until(lambda: set(range(100, 200)) <= set(heard), what="a hundred hints")


def test_what_was_sent_before_the_worker_came_is_not_lost(heard: list[int], db: None) -> None:
    tasks.hint(8)
    worker = Worker(2)
    worker.start()
    wait_until(lambda: 8 in heard, what="the hint")
    assert worker.stop()


def test_a_second_worker_can_follow_the_first(heard: list[int], db: None) -> None:
    for number in (1, 2):
        worker = Worker(1)
        worker.start()
        tasks.hint(number)
        wait_until(lambda number=number: number in heard, what="the hint")
        assert worker.stop()
        assert not worker.thread.is_alive()


def test_a_hint_is_a_number_and_nothing_else(heard: list[int], worker: Worker) -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_ignore_result
    assert not app.conf.task_acks_late
    assert not app.conf.task_always_eager


def test_a_call_between_looking_and_sleeping_is_heard() -> None:
    bed = Bed()
    heard = bed.calls
    bed.wake()
    assert bed.sleep(heard, 0)


def test_sleep_ends_by_itself_when_nobody_calls() -> None:
    bed = Bed()
    assert not bed.sleep(bed.calls, 0.01)


def test_who_sleeps_is_woken() -> None:
    bed = Bed()
    woken: list[bool] = []
    sleep: Callable[[], None] = lambda: woken.append(bed.sleep(0, 30))  # noqa: E731
    thread = threading.Thread(target=sleep)
    thread.start()
    bed.wake()
    thread.join(10)
    assert woken == [True]
