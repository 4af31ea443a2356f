"""What is written and found is the same on both databases: hits and their order, bodies, hashes, events."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from runs.engine import events as ev
from runs.engine.messages import Author, Kind, Role, canonical, clean, text
from runs.models import Event, Message, Run
from runs.store import archive, index, search
from runs.store.verify import verify
from tests.builders import Building, a_person, a_run
from tests.store.test_nasty_text import NASTY
from tests.twins import Twin, Twins

WORDS = [
    "race",
    "race-condition",
    "OrderService",
    "stock_service.py",
    "src/orders",
    "line",
    "299",
    "竞争",
    "数据竞争",
]
WORDS += [
    "naïve",
    "СТРАНИЦА",
    "page",
    "pages",
    "HTTPResponse",
    "3.11.7",
    "Straße",
    "題",
    "ﬁle",
    "O'Brien",
    "\\n",
]
Found = TypeVar("Found")
OnBoth = Callable[[Callable[[], Any]], None]


@pytest.fixture(autouse=True)
def twin() -> None:
    """Not one of them: each test here takes both."""


@pytest.fixture
def both(twins: Twins, django_db_blocker: Any) -> Iterator[tuple[Twin, Twin]]:
    with django_db_blocker.unblock():
        yield twins.of("sqlite"), twins.of("postgres")


def of_each(both: tuple[Twin, Twin], look: Callable[[], Found]) -> list[Found]:
    """What the same act shows on each, in a database of its own."""
    shown = []
    for twin in both:
        with twin.copy():
            shown.append(look())
    return shown


def a_building() -> Building:
    return Building.start(a_person(), limit=24_000, goal="Nothing to find here.", title="t", llm="rehearsal")


def lines(chance: random.Random) -> Iterator[str]:
    """Short and long ones: over the positions, the bytes and the repetitions that a Postgres vector holds."""
    for _ in range(40):
        yield " ".join(chance.choices(WORDS, k=chance.randint(1, 30)))
    yield "\n".join(f"line {number}" for number in range(1, 1000))
    yield "first " + "filler " * 20_000 + "last words"
    yield " ".join(f"{number:08d}" + "щ" * 60 for number in range(9_000)) + " far end"
    yield "race " * 3_000 + "race condition"
    yield "竞争" * 9_000 + "数据"


def queries(chance: random.Random) -> Iterator[str]:
    yield from WORDS
    yield from (" ".join(chance.choices(WORDS, k=chance.randint(2, 4))) for _ in range(60))
    yield from ("line 777", "line-777", "777 line", "first last", "last words", "words last", "filler last")
    yield from (
        "00000001" + "щ" * 60,
        "far end",
        "00008999щ far",
        "race condition",
        "race.condition",
        "竞争数据",
    )
    yield from (
        " ".join(WORDS),
        "race " * 200,
        ".".join(["race"] * 60),
        "x" * 5_000,
        "\x00",
        "race\x00condition",
    )


def test_a_search_has_the_same_hits_in_the_same_order(both: tuple[Twin, Twin]) -> None:
    def look() -> dict[str, list[tuple[int, float]]]:
        chance = random.Random(3)
        made = a_building()
        for line in lines(chance):
            made.say(line)
        return {
            query: [(place.number, place.score) for place in index.find(query, run_id=made.run.pk, limit=30)]
            for query in queries(chance)
        }

    sqlite, postgres = of_each(both, look)
    for query, hits in sqlite.items():
        assert hits == postgres[query], query[:80]
    assert all(sqlite[query] for query in ("line-777", "first last", "far end", "race condition", "竞争数据"))


def test_letters_of_every_script_are_found_alike(both: tuple[Twin, Twin]) -> None:
    """Each word that was said is asked for, alone and with its neighbour."""

    def look() -> list[list[int]]:
        chance = random.Random(5)
        made = a_building()
        said = [" ".join(_word(chance) for _ in range(6)) for _ in range(60)]
        for line in said:
            made.say(line)
        asked = [word for line in said for word in line.split()]
        asked += [f"{one} {two}" for one, two in zip(asked, asked[1:], strict=False)]
        return [[place.number for place in index.find(one, run_id=made.run.pk, limit=99)] for one in asked]

    sqlite, postgres = of_each(both, look)
    assert sqlite == postgres
    assert sum(map(bool, sqlite)) > len(sqlite) / 2


def _word(chance: random.Random) -> str:
    """Neighbours in Unicode, from anywhere in it."""
    start = chance.choice((chance.randrange(0x3000), chance.randrange(0x20000)))
    letters = (chr(start + chance.randrange(24)) for _ in range(chance.randint(1, 8)))
    return str(clean("".join(letters)))


def test_a_whole_run_is_searched_alike_with_what_became_of_each_line(both: tuple[Twin, Twin]) -> None:
    def look() -> list[tuple[Any, ...]]:
        run = a_run(turns=24, order="")
        found = [hit for query in ("page", "cursor", "next_page last") for hit in search.find(query, run=run)]
        return [(hit.message, hit.turn, hit.kind, hit.state, hit.episode, hit.snippet) for hit in found]

    sqlite, postgres = of_each(both, look)
    assert sqlite == postgres
    assert len(sqlite) > 30


def test_nasty_text_has_the_same_bytes_the_same_hash_and_the_same_events(both: tuple[Twin, Twin]) -> None:
    def look() -> list[Any]:
        made = a_building()
        for nasty in NASTY:
            made._write(ev.Said(turn=1, message=made._message(*_said(clean(nasty)))))
            made._write(ev.Recalled(turn=1, query=nasty[:500], hits=0))
        assert verify(Run.objects.get(pk=made.run.pk)).ok
        bodies = list(Message.objects.order_by("number").values_list("blob_id", "blob__size", "blob__body"))
        told = list(Event.objects.order_by("seq").values_list("kind", "data"))
        return [[(one, size, bytes(body)) for one, size, body in bodies], _without_names(told)]

    sqlite, postgres = of_each(both, look)
    assert sqlite == postgres


def _said(words: str) -> tuple[Any, ...]:
    return (Role.USER, Author.PERSON, Kind.SAY, [text(words)])


def _without_names(told: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Seals and all; but not what is drawn by lot or by the clock when a run begins."""
    return [(kind, data) for kind, data in told if kind not in ("run.created", "owner.claimed")]


@pytest.mark.parametrize(
    "number", [-0.0, 1e16, 1e22, 1.5e300, 5e-324, 1e-7, 0.1, 123456789012345678901234567890]
)
def test_a_number_that_one_database_writes_otherwise_breaks_no_hash(
    both: tuple[Twin, Twin], number: float
) -> None:
    def look() -> Any:
        run = a_building()
        archive.append(
            run.claim, ev.Checked(technique="t", value=number, threshold=0.5, verdict="not fired", why="")
        )
        assert verify(Run.objects.get(pk=run.run.pk)).ok
        return Event.objects.get(kind="window.checked").data

    sqlite, postgres = of_each(both, look)
    assert canonical(sqlite) == canonical(postgres)
