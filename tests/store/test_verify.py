"""Damage is found and the first event it touches is named; an untouched archive raises no alarm."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from runs.models import Event, Message, Run, Turn, Version
from runs.store import anchors, requests, triggers
from runs.store.verify import verify
from tests.builders import a_run

pytestmark = pytest.mark.django_db

TEXTS = {
    "runs_event": ("kind", "hash", "data"),
    "runs_message": ("role", "author", "kind", "counted", "by"),
    "runs_frame": ("llm", "system", "tools", "params"),
    "runs_version": ("items",),
}
NUMBERS = {
    "runs_event": ("turn", "seq"),
    "runs_message": ("turn", "tokens", "number"),
    "runs_version": ("base", "parent", "edit"),
    "runs_blob": ("size",),
    "runs_frame": ("render",),
}


@pytest.fixture
def run() -> Run:
    return a_run(turns=12, limit=16_000)


def without_triggers() -> None:
    with connection.cursor() as cursor:
        for trigger in triggers.wanted(connection.vendor):
            on = f" ON {trigger.table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {trigger.name}{on}")


def damaged(run: Run, hurt: Callable[[Any], Any]) -> Any:
    """The verdict over an archive that was hurt; afterwards the archive is as before."""
    with transaction.atomic():
        without_triggers()
        with connection.cursor() as cursor:
            hurt(cursor)
        verdict = verify(run)
        transaction.set_rollback(True)
    return verdict


def test_an_untouched_archive_raises_no_alarm(run: Run) -> None:
    verdict = verify(run)
    assert (verdict.ok, verdict.first_bad, verdict.events) == (True, None, run.next_seq - 1)


def test_the_request_of_every_turn_is_rebuilt_byte_for_byte() -> None:
    run = a_run(turns=40)
    assert run.sums["compactions"] >= 2
    for turn in Turn.objects.filter(run=run):
        assert requests.rebuild(run, turn).as_sent
    body = requests.body(run, 40)
    assert body.startswith(b"{")
    assert f"{run.slug}:40".encode() in body


def test_a_turn_that_never_was_has_no_request(run: Run) -> None:
    with pytest.raises(Turn.DoesNotExist):
        requests.body(run, 99)


FLIPS = 40


def test_a_flipped_byte_is_found_wherever_it_is(run: Run) -> None:
    dice = random.Random(2026)
    for _ in range(FLIPS):
        verdict = damaged(run, lambda cursor: _flip(cursor, dice))
        assert not verdict.ok
        assert verdict.first_bad.why


def _flip(cursor: Any, dice: random.Random) -> None:
    table = dice.choice(("runs_blob", "runs_blob", *TEXTS, *NUMBERS))
    key = "sha256" if table in ("runs_blob", "runs_frame") else "id"
    cursor.execute(f"SELECT {key} FROM {table} ORDER BY {key}")
    row = dice.choice(cursor.fetchall())[0]
    if table == "runs_blob" and dice.random() < 0.7:
        cursor.execute("SELECT body FROM runs_blob WHERE sha256 = %s", [row])
        body = bytearray(cursor.fetchone()[0])
        body[dice.randrange(len(body))] ^= 1 << dice.randrange(8)
        cursor.execute("UPDATE runs_blob SET body = %s WHERE sha256 = %s", [bytes(body), row])
        return
    if table in NUMBERS and dice.random() < 0.5 or table not in TEXTS:
        name = dice.choice(NUMBERS[table])
        cursor.execute(f"UPDATE {table} SET {name} = {name} + 1000 WHERE {key} = %s", [row])
        return
    name = dice.choice(TEXTS[table])
    cursor.execute(f"SELECT {name} FROM {table} WHERE {key} = %s", [row])
    cursor.execute(
        f"UPDATE {table} SET {name} = %s WHERE {key} = %s", [_changed(cursor.fetchone()[0], dice), row]
    )


def _changed(text: str, dice: random.Random) -> str:
    """One letter or digit becomes another; JSON stays JSON."""
    places = [at for at, char in enumerate(text) if char.isdigit()] or [
        at for at, char in enumerate(text) if char.isalpha()
    ]
    if not places:
        return text + "x"
    at = dice.choice(places)
    other = str((int(text[at]) + 1) % 9 + 1) if text[at].isdigit() else ("b" if text[at] != "b" else "c")
    return text[:at] + other + text[at + 1 :]


@pytest.mark.parametrize("table", ["runs_event", "runs_message", "runs_blob", "runs_version"])
@pytest.mark.parametrize("place", [0, 5, -1])
def test_a_deleted_row_is_found(run: Run, table: str, place: int) -> None:
    key = "sha256" if table == "runs_blob" else "id"

    def hurt(cursor: Any) -> None:
        cursor.execute(f"SELECT {key} FROM {table} ORDER BY {key}")
        rows = cursor.fetchall()
        cursor.execute(f"DELETE FROM {table} WHERE {key} = %s", rows[min(place, len(rows) - 1)])

    assert not damaged(run, hurt).ok


@pytest.mark.parametrize("first", [1, 9, 30])
def test_two_swapped_events_are_found_and_the_first_is_named(run: Run, first: int) -> None:
    def hurt(cursor: Any) -> None:
        for old, new in ((first, 90_000), (first + 1, first), (90_000, first + 1)):
            cursor.execute(
                "UPDATE runs_event SET seq = %s WHERE seq = %s AND run_id = %s", [new, old, run.pk]
            )

    assert damaged(run, hurt).first_bad.seq == first


def test_the_event_that_brought_a_changed_message_is_named(run: Run) -> None:
    answer = Message.objects.filter(run=run, kind="answer").order_by("number")[3]
    brought = Event.objects.get(run=run, kind="turn.answered", data__message=answer.number)
    verdict = damaged(
        run,
        lambda cursor: cursor.execute("UPDATE runs_message SET author = 'person' WHERE id = %s", [answer.pk]),
    )
    assert verdict.first_bad.seq == brought.seq


def test_a_changed_turn_is_found(run: Run) -> None:
    turn = Turn.objects.filter(run=run, number=4, status="closed").get()
    for change in ("cost = cost + 1", '"window" = 5', "request_sha256 = 'x'", "stop_reason = 'end'"):
        statement = f"UPDATE runs_turn SET {change} WHERE id = %s"
        assert not damaged(run, lambda cursor, made=statement: cursor.execute(made, [turn.pk])).ok


def test_a_changed_window_is_found(run: Run) -> None:
    newest = Version.objects.filter(run=run).order_by("-number")[0]
    assert newest.number > 1
    assert not damaged(
        run, lambda cursor: cursor.execute("UPDATE runs_version SET items = '[]' WHERE id = %s", [newest.pk])
    ).ok


def test_a_chain_that_was_recomputed_is_found_by_its_anchor() -> None:
    run = a_run(turns=20)
    marks = anchors.read(run.slug)
    assert sorted(marks) == list(range(100, run.next_seq, 100))
    assert marks[100] == Event.objects.get(run=run, seq=100).hash
    file = Path(settings.AGENTDASH_HOME) / "anchors" / run.slug
    file.write_text(file.read_text().replace(marks[100], "0" * 64))
    verdict = verify(run)
    assert (verdict.first_bad.seq, verdict.first_bad.why) == (
        100,
        "its hash is not the one in the anchor file",
    )


def test_a_run_cut_short_is_found_by_its_anchor() -> None:
    run = a_run(turns=20)

    def hurt(cursor: Any) -> None:
        cursor.execute("DELETE FROM runs_event WHERE seq >= 99 AND run_id = %s", [run.pk])
        last = Event.objects.get(run=run, seq=98)
        Run.objects.filter(pk=run.pk).update(next_seq=99, head_hash=last.hash)

    assert not damaged(run, hurt).ok
