"""The twins in memory of what lies outside."""

from __future__ import annotations

import threading

from runs.engine.memory import ManualClock, MemoryFiles, MemoryHistory, SystemClock
from runs.engine.ports import Cancel

from .stage import laid, talk


def test_files_are_written_read_and_listed() -> None:
    files = MemoryFiles()
    files.write("results/b.txt", "two")
    files.write("a.txt", "one")
    assert files.names() == ["a.txt", "results/b.txt"]
    assert files.read("a.txt") == "one"
    assert files.read("none") is None


def test_history_finds_whole_lines_with_their_neighbours() -> None:
    history = laid(talk(3, size=9)).desk.history
    assert isinstance(history, MemoryHistory)
    (hit,) = history.search("C2_0 LINE 4", 5)
    assert hit.turn == 2
    assert hit.text.splitlines() == [f"c2_0 line {at} says corridor" for at in range(2, 7)]
    assert len(history.search("corridor", 4)) == 4
    assert history.search("", 4) == []
    assert [message.number for message in history.of_turn(2)] == [4, 5]
    assert history.message(3).number == 3


def test_a_wait_ends_at_once_when_cancelled() -> None:
    cancel = Cancel()
    woken = threading.Thread(target=SystemClock().sleep, args=(60, cancel))
    woken.start()
    cancel("stop_now")
    woken.join(10)
    assert not woken.is_alive()
    SystemClock().sleep(60, cancel)
    assert SystemClock().now_ms() > 1_600_000_000_000


def test_a_clock_by_hand_moves_only_when_somebody_sleeps() -> None:
    clock = ManualClock()
    clock.sleep(1.5, Cancel())
    assert clock.now_ms() == 1500
