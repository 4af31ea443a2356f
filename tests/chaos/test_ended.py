"""Ctrl-C in the middle of a turn, the next start, and a second process on the same home."""

from __future__ import annotations

from tests.conftest import wait_until

from .conftest import Report
from .house import House, Process


def in_the_middle_of_a_turn(house: House) -> Process:
    """A house whose llm is typing at a human pace."""
    life = house.start()
    house.ask("run", "Repair the shop", "--llm", "rehearsal", "--policy", "demo")
    wait_until(lambda: house.one("SELECT turn_no FROM runs_run") >= 1, 60, "a first turn")
    wait_until(lambda: house.rows("SELECT 1 FROM runs_turn WHERE status = 'open'"), 60, "a turn that is open")
    return life


def test_ctrl_c_ends_within_three_seconds_and_the_next_start_goes_on(house: House, report: Report) -> None:
    life = in_the_middle_of_a_turn(house)
    seconds = life.interrupt()
    turns = house.one("SELECT turn_no FROM runs_run")
    house.start()
    wait_until(lambda: house.one("SELECT turn_no FROM runs_run") > turns, 60, "the run to go on")
    problems = []
    if seconds > 3:
        problems.append(f"it took {seconds:.1f} s to end")
    if life.inner.returncode != 0:
        problems.append(f"it ended with {life.inner.returncode}")
    if "1 run goes on where it stood, next time: agentdash serve" not in life.output:
        problems.append(f"it did not say that the run goes on: {life.output}")
    if "Traceback" in life.output:
        problems.append(life.output)
    report("ctrl-c", {"seconds": round(seconds, 2), "turns_before": turns}, problems)


def test_a_second_process_on_the_same_home_is_refused_with_the_pid_of_the_first(
    house: House, report: Report
) -> None:
    first = house.start()
    second = House(house.home, lives=house.lives).launch()
    second.inner.wait(60)
    problems = []
    if second.inner.returncode != 2:
        problems.append(f"it ended with {second.inner.returncode}")
    if f"process {first.pid}" not in second.output:
        problems.append(f"it did not name process {first.pid}: {second.output}")
    if first.inner.poll() is not None:
        problems.append("the first process ended")
    report("second-process", {"exit": second.inner.returncode}, problems)
