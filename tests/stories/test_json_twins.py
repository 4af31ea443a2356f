"""Every page and order has a twin for scripts: the same address, asked with Accept: application/json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.models import Edit, Run
from tests.conftest import wait_until
from tests.living import In, LiveHouse

from .telling import begin, path, until
from .wire import Wire

JSON = {"Accept": "application/json"}


@pytest.fixture
def script(finished: Run, house: LiveHouse) -> In:
    """What a script has: Ada's cookies, and no browser. Real requests to the real server."""
    return house.context().request


def got(script: In, house: LiveHouse, where: str) -> Any:
    answer = script.get(house.address + where, headers=JSON)
    assert answer.status == 200, answer.text()
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def test_the_fleet_is_an_array_and_a_run_an_object_of_the_same_keys(
    script: In, finished: Run, house: LiveHouse
) -> None:
    (listed,) = got(script, house, "/")
    shown = got(script, house, path(finished))
    assert listed.items() <= shown.items()
    assert (shown["run"], shown["state"], shown["pending_orders"]) == (finished.slug, "done", [])
    assert shown["url"] == house.address + path(finished)


def test_the_window_adds_up(script: In, finished: Run, house: LiveHouse) -> None:
    told = got(script, house, path(finished, "window/?turn=40"))
    assert sum(told["parts"].values()) == told["tokens"]
    assert [entry["n"] for entry in told["entries"]] == list(range(1, len(told["entries"]) + 1))
    assert len(told["request_sha256"]) == 64


def test_a_compaction_adds_up(script: In, finished: Run, house: LiveHouse) -> None:
    edit = Edit.objects.filter(run=finished, kind="compact").order_by("number")[0]
    told = got(script, house, path(finished, f"compactions/{edit.number}/"))
    for side in ("tokens_before", "tokens_after"):
        assert sum(one[side] for one in told["sums"].values()) == told[side] == getattr(edit, side)
        assert sum(one[side] for one in told["entries"]) == told[side]
    assert sum(one["entries"] for one in told["sums"].values()) == len(told["entries"])


def test_search_says_the_state_of_each_hit(script: In, finished: Run, house: LiveHouse) -> None:
    everywhere = got(script, house, "/search/?q=suspicious")
    here = got(script, house, path(finished, "archive/?q=suspicious"))
    assert {hit["message"] for hit in everywhere} == {hit["message"] for hit in here} != set()
    assert all(hit["state"] in ("window", "folded", "cleared", "offloaded", "dropped") for hit in here)


def test_events_come_five_hundred_at_a_time_without_a_gap(
    script: In, finished: Run, house: LiveHouse
) -> None:
    seqs: list[int] = []
    while more := got(script, house, path(finished, f"events/?after={seqs[-1] if seqs else 0}")):
        assert len(more) <= 500
        seqs += [event["seq"] for event in more]
    assert seqs == list(range(1, finished.next_seq))


def test_the_archive_answers_whether_it_is_intact(script: In, finished: Run, house: LiveHouse) -> None:
    assert got(script, house, path(finished, "archive/intact/")) == {
        "run": finished.slug,
        "ok": True,
        "events": finished.next_seq - 1,
        "first_bad": None,
    }


@pytest.mark.parametrize(
    "where", ["/runs/r-00000/", "/runs/r-00000/window/", "/runs/r-00000/events/", "/nowhere/"]
)
def test_what_is_not_there_is_404_with_a_sentence(script: In, house: LiveHouse, where: str) -> None:
    answer = script.get(house.address + where, headers=JSON)
    assert answer.status == 404
    assert answer.json()["error"].endswith(".")


def test_an_order_is_a_post_and_its_answer_the_owners(house: LiveHouse, wire: Wire) -> None:
    """202 while it waits, 200 once applied, 409 when refused, 422 for nonsense; the same key is the same order."""
    wire.hold(1)
    run = begin("rehearsal", policy="demo")
    wait_until(lambda: wire.holds(1), 60, "the first turn")
    ada = house.page(path(run))
    token = json.loads(ada.get_attribute("body", "hx-headers"))["X-CSRFToken"]

    def order(kind: str, wait: int = 0, **args: object) -> Any:
        headers = {**JSON, "X-CSRFToken": token, "Origin": house.address, "Content-Type": "application/json"}
        where = house.address + path(run, f"orders/{kind}/?wait={wait}")
        answer = ada.request.post(where, headers=headers, data=json.dumps(args))
        return answer.status, answer.json()

    status, asked = order("pause", client_key="once")
    assert (status, asked["state"], asked["reason"]) == (202, "pending", "applies after this turn")
    assert order("pause", client_key="once")[1]["order"] == asked["order"]
    assert order("step")[0] == 409
    assert order("compact", method="squeeze")[0] == 422
    assert order("dance")[0] == 422
    wire.release()
    until(run, "paused")
    status, stepped = order("step", wait=10, n=1)
    assert (status, stepped["state"]) == (200, "applied")
    assert order("stop", wait=10)[0] == 200
