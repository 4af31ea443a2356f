"""How often the database is asked, whatever the length of the run and the number of those who look."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Event, Message, Order, Run, Turn, Version
from runs.present import fleet, socket, steering
from runs.present import run as run_page
from runs.present.now import Now
from runs.store import page_reads, sql
from tests.builders import a_person, a_run
from tests.present.conftest import READ, RED, Scene

OPENED = ("turn.opened", "window.checked")
ANSWERED = ("turn.answered", "call.planned", "call.started")
CLOSED = ("call.ended", "turn.closed")


def asked(act: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        act()
    return len(queries)


def sent(scene: Scene, kinds: Sequence[str], after: int) -> int:
    """Queries of a lot of the events of these kinds, from reading them to what the socket sends."""

    def send() -> None:
        every = page_reads.every_event(scene.run.pk, after, 500)
        events = [event for event in every if event.kind in kinds]
        assert {event.kind for event in events} >= set(kinds) - {"window.checked"}
        socket.items(Now.of(scene.run.pk), events)

    return asked(send)


@pytest.mark.parametrize(
    ("kinds", "most"),
    [(OPENED, 3), (ANSWERED, 4), (CLOSED, 4), ((*CLOSED, *OPENED), 4), ((*OPENED, *ANSWERED, *CLOSED), 4)],
)
def test_a_lot_of_a_usual_turn_costs_at_most_four_queries(
    scene: Scene, kinds: Sequence[str], most: int
) -> None:
    scene.turns(3, READ)
    seen = scene.seq
    scene.turns(1, READ, RED, words="I look.")
    assert sent(scene, kinds, seen) <= most


def test_many_turns_in_one_lot_cost_what_one_does(scene: Scene) -> None:
    every = (*OPENED, *ANSWERED, *CLOSED)
    scene.turns(1, RED)
    one = sent(scene, every, 0)
    scene.turns(8, READ, RED)
    assert sent(scene, every, 0) == one


def test_a_check_that_fired_nothing_asks_for_nothing_but_the_run(scene: Scene) -> None:
    scene.turns(1)
    checked = Event(run=scene.run, seq=scene.seq + 1, kind="window.checked", data={})
    assert asked(lambda: socket.items(Now.of(scene.run.pk), [checked])) == 1


@pytest.mark.parametrize("tab", [name for name, _ in run_page.TABS])
def test_a_page_of_many_turns_asks_as_often_as_one_of_few(scene: Scene, tab: str) -> None:
    def page() -> None:
        run_page.page(scene.fresh, None, tab)

    scene.turns(2, READ)
    few = asked(page)
    scene.turns(5, READ, RED, READ, thinking="Hm.")
    assert asked(page) == few


def held(count: int) -> None:
    """So many runs that a person has paused or stopped."""
    for number in range(count):
        run, kind, state = a_run(turns=1, order=""), *(("pause", "paused"), ("stop", "stopped"))[number % 2]
        Run.objects.filter(pk=run.pk).update(state=state, reason="person")
        order = {"run": run, "kind": kind, "by": "ada", "at": sql.now(), "client_key": f"key-{run.pk}"}
        Order.objects.create(**order, state="applied", applied_seq=1)


def test_the_fleet_asks_as_often_for_many_runs_as_for_few(db: None) -> None:
    held(2)
    found = fleet.fleet(Run.objects.all())
    assert [row.status.by for row in found.rows] == ["ada", "ada"]
    few = asked(lambda: fleet.fleet(Run.objects.all()))
    held(6)
    fleet.fleet(Run.objects.all())  # draws the sparklines, which are kept
    assert asked(lambda: fleet.fleet(Run.objects.all())) == few


def test_many_orders_that_wait_ask_as_often_as_one(scene: Scene) -> None:
    def wait(count: int) -> None:
        for number in range(count):
            order = {"run": scene.run, "kind": "say", "by": a_person("ada").username, "at": sql.now()}
            Order.objects.create(**order, args={"text": "Hm."}, client_key=f"{count}-{number}")

    Run.objects.filter(pk=scene.run.pk).update(state="paused")
    wait(1)
    one = asked(lambda: steering.chips(scene.fresh))
    wait(5)
    assert len(steering.chips(scene.fresh)) == 6
    assert asked(lambda: steering.chips(scene.fresh)) == one


def test_what_is_read_by_hand_is_what_the_tables_say(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    scene.turns(1, READ)
    run, now, with_orm = scene.fresh, Now.of(scene.run.pk), Now(run=scene.fresh)
    columns = [field.attname for field in Run._meta.concrete_fields]
    assert [getattr(now.run, name) for name in columns] == [getattr(run, name) for name in columns]
    assert now.run.owner.get_username() == run.owner.get_username()
    row = Version.objects.get(run=run, number=run.version)
    for seen in (now.standing, with_orm.standing):
        assert (seen.version, seen.base, list(seen.items)) == (
            row.number,
            row.base,
            [one[0] for one in row.items],
        )
        assert seen.upto == Message.objects.filter(run=run).order_by("-number")[0].number
    closed = Turn.objects.filter(run=run, status="closed").order_by("number")
    assert [vars_of(turn) for turn in now.recent] == [vars_of(turn) for turn in closed][-12:]
    assert page_reads.every_event(run.pk, 3, 2) == list(
        Event.objects.filter(run=run, seq__in=(4, 5)).order_by("seq")
    )


def vars_of(row: Turn) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in Turn._meta.concrete_fields}


def test_a_run_without_a_window_and_one_that_is_gone(scene: Scene) -> None:
    bare = Run.objects.create(
        slug="r-bare0", title="Bare", owner=scene.run.owner, llm="rehearsal", created_at=sql.now()
    )
    now = Now.of(bare.pk)
    assert (now.run, now.standing.upto, dict(now.standing.items), now.last) == (bare, 0, {}, None)
    with pytest.raises(Run.DoesNotExist):
        Now.of(bare.pk + 999)
