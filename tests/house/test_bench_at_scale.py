"""What the bench of many runs measures and prints, at the smallest size: no server, no database."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import pytest

from bench.scale import figures, llm, machine, orders, table
from bench.scale.figures import Result, Spread
from bench.scale.load import Load
from runs.engine.llm.rehearsal import stream
from runs.engine.llm.rehearsal.script import Step
from runs.engine.llm.rehearsal.wire import Place, Said

LOAD = Load(runs=100, workers=3, viewers=10, seconds=5, answer_s=20, pieces=12)
GROUPS = ("workers", "web", "postgres", "redis", "llm", "viewers")


def result(**changed: Any) -> Result:
    even = dict.fromkeys(GROUPS, 10.0)
    pss = dict.fromkeys(GROUPS, 100_000_000)
    memory = machine.Sample(pss=pss, rss=pss, threads=dict.fromkeys(GROUPS, 3), connections=20)
    quick = Spread(count=9, p50=10, p95=80, p99=90, most=95)
    given: dict[str, Any] = {
        "load": LOAD,
        "up_s": 3,
        "alive": 100,
        "lost": {},
        "turns": 24,
        "seconds": 5,
        "cpu_ms_a_turn": even,
        "cores": 1.5,
        "memory": memory,
        "orders": {"post": quick, "interrupt": quick, "pause": quick},
        "unanswered": 0,
        "shared": quick,
        "alone": Spread(count=0),
        "deltas": 5,
        "broken": 0,
        "database_bytes": 24_000,
        "wal_bytes": 48_000,
    }
    return Result(**given | changed)


def test_the_threads_of_all_workers_are_enough_for_all_runs() -> None:
    assert (LOAD.threads, LOAD.ideal) == (34, 5.0)
    assert result().share == pytest.approx(0.96)


def test_percentiles_are_those_of_the_sorted_times_in_milliseconds() -> None:
    found = figures.spread([second / 1000 for second in range(100, 0, -1)])
    assert (found.count, found.p50, found.p95, found.p99, found.most) == (100, 51, 96, 100, 100)
    assert figures.spread([]) == Spread(count=0)


def test_only_what_was_written_while_it_was_measured_counts_and_many_viewers_are_told_apart() -> None:
    seen = [(0, "r-many", 5, 10.25), (1, "r-many", 5, 10.75), (2, "r-one", 9, 20.5), (2, "r-one", 4, 1.0)]
    lines = [*(json.dumps(line) for line in seen), json.dumps({"deltas": 7, "broken": 1})]
    many, one, counts = figures.seen(lines, {("r-many", 5): 10.0, ("r-one", 9): 20.0}, "r-many")
    assert (many.count, many.most, one.count, one.most) == (2, 750, 1, 500)
    assert counts == {"deltas": 7, "broken": 1}


def test_what_a_process_and_its_threads_cost_is_read() -> None:
    groups = {"us": [os.getpid()], "gone": [2**22 + 1]}
    before = machine.cpu_s(groups)
    sum(number * number for number in range(2_000_000))
    assert machine.cpu_s(groups)["us"] > before["us"]
    assert before["gone"] == 0
    held = threading.Event()
    thread = threading.Thread(target=held.wait)
    thread.start()
    found = machine.sample(groups)
    held.set()
    thread.join()
    assert found.threads["us"] >= 2
    assert 5_000_000 < found.pss["us"] <= found.rss["us"]
    assert (found.pss["gone"], found.threads["gone"]) == (0, 0)


def test_every_kind_of_order_is_pressed_however_few_the_runs() -> None:
    plan = orders.plan_of([f"r-{number}" for number in range(4)])
    assert {kind for kind, _ in plan} == set(orders.SHARE)
    assert len({slug for _, slug in plan}) == len(plan)


def test_an_answer_of_the_slow_llm_takes_as_long_as_asked_for_in_about_as_many_pieces() -> None:
    step, pace = llm.script(12).step(1), llm.pace(20, 12)
    deltas = list(pieces(step, pace))
    assert abs(len(deltas) - 12) <= 1
    assert pace.first_s + pace.gap_s * len(deltas) == pytest.approx(20, abs=2)


def pieces(step: Step, pace: stream.Pace) -> list[Any]:
    from runs.engine.llm.rehearsal.play import answer

    said: Said = answer(Place(slug="r-one", turn=1), step)
    blocks = [stream._block(index, block, pace.piece) for index, block in enumerate(said.content)]
    return [piece for block in blocks for piece in block if piece["type"] == "content_block_delta"]


def test_the_table_has_a_cell_for_each_head_and_a_dash_where_nothing_was_measured() -> None:
    lines = list(table.lines([result(), result(lost={"the worker stopped": 2})]))
    for head, *rows in (lines[:4], lines[5:]):
        assert {row.count("|") for row in rows} == {head.count("|")}
    assert "| 24/5 " not in lines[2]
    assert "4.8 (5.0), 96%" in lines[2]
    assert "100, 2 calls made again" in lines[3]
    assert "| – |" in lines[7]


def test_the_budget_is_kept_or_over_row_by_row() -> None:
    kept = {row["what"]: row["ok"] for row in table.verdicts(result())}
    assert set(kept.values()) == {True}
    slow = Spread(count=1, p50=1, p95=1001, p99=1001, most=1001)
    over = {
        row["what"]: row["ok"]
        for row in table.verdicts(result(alive=99, shared=slow, orders={"pause": slow}))
    }
    assert [what for what, ok in over.items() if not ok] == [
        "runs not alive",
        "orders answered, p95 ms",
        "event → browser, 50 viewers, p95 ms",
    ]
