"""A page says which event it shows, and gets what it lacks: in order, once, whatever was lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs.live import bell
from runs.models import Run

from .conftest import Fragments

Open = Callable[..., Any]
Happen = Callable[..., int]


def test_a_page_gets_what_happened_since_it_was_drawn(open_page: Open, happen: Happen) -> None:
    happen(5)
    page = open_page()
    page.say(t="hello", seq=2)
    assert page.seqs() == [3, 4, 5]


def test_then_it_gets_what_happens(open_page: Open, happen: Happen) -> None:
    happen(1)
    page = open_page()
    page.say(t="hello", seq=1)
    assert page.seqs() == []
    happen(1)
    assert [item["seq"] for item in page.hear()["items"]] == [2]


def test_an_item_carries_number_kind_turn_and_fragment(open_page: Open, happen: Happen) -> None:
    happen(1)
    page = open_page()
    page.say(t="hello", seq=0)
    assert page.hear() == {
        "t": "events",
        "items": [{"seq": 1, "kind": "turn.closed", "turn": 1, "html": "<p>1</p>"}],
    }


def test_an_event_whose_bell_was_lost_arrives_all_the_same(open_page: Open, happen: Happen) -> None:
    happen(1)
    page = open_page()
    page.say(t="hello", seq=1)
    page.up_to_date()
    happen(1, ring=False)
    assert [item["seq"] for item in page.hear()["items"]] == [2]


def test_the_last_bell_of_many_is_never_lost(open_page: Open, happen: Happen, run: Run) -> None:
    page = open_page()
    page.say(t="hello", seq=0)
    page.up_to_date()
    heard: list[int] = []
    for _ in range(60):
        happen(1)
    while heard[-1:] != [60]:
        heard += [item["seq"] for item in page.hear()["items"]]
    assert heard == list(range(1, 61))


def test_five_hundred_events_are_sent_one_by_one(open_page: Open, happen: Happen) -> None:
    happen(501)
    page = open_page()
    page.say(t="hello", seq=1)
    assert page.seqs() == list(range(2, 502))


def test_who_lacks_more_gets_the_page_anew(open_page: Open, happen: Happen) -> None:
    happen(502)
    page = open_page()
    page.say(t="hello", seq=1)
    assert page.up_to_date() == [{"t": "snapshot", "seq": 502, "html": "<main>502</main>"}]
    happen(1)
    assert [item["seq"] for item in page.hear()["items"]] == [503]


def test_a_page_that_knows_more_than_the_archive_is_told_and_can_ask_for_the_page_anew(
    open_page: Open, happen: Happen
) -> None:
    happen(3)
    page = open_page()
    page.say(t="hello", seq=9)
    assert page.hear() == {"t": "resync"}
    page.say(t="hello", seq=-1)
    assert page.hear()["t"] == "snapshot"


def test_two_pages_at_different_places_get_each_their_own(open_page: Open, happen: Happen) -> None:
    happen(4)
    late, early = open_page(), open_page()
    late.say(t="hello", seq=3)
    assert late.seqs() == [4]
    early.say(t="hello", seq=1)
    assert early.seqs() == [2, 3, 4]


def test_what_many_pages_watch_is_rendered_once(
    open_page: Open, happen: Happen, fragments: Fragments
) -> None:
    happen(1)
    pages = [open_page() for _ in range(8)]
    for page in pages:
        page.say(t="hello", seq=1)
        page.up_to_date()
    fragments.asked.clear()
    happen(1)
    assert [page.hear()["items"][0]["seq"] for page in pages] == [2] * 8
    assert sum(fragments.asked) == 1


def test_large_fragments_come_in_messages_a_browser_can_take(
    open_page: Open, happen: Happen, fragments: Fragments
) -> None:
    fragments.filling = "x" * 20_000
    happen(30)
    page = open_page()
    page.say(t="hello", seq=0)
    sizes = [len(message["items"]) for message in page.up_to_date()]
    assert sum(sizes) == 30
    assert max(sizes) <= 4


def test_an_acknowledgement_needs_no_answer(open_page: Open, happen: Happen) -> None:
    happen(1)
    page = open_page()
    page.say(t="hello", seq=1)
    page.say(t="ack", seq=1)
    assert page.seqs() == []


def test_a_bell_for_a_run_nobody_watches_is_nothing(address: str) -> None:
    bell.ring(999_999, 1)
