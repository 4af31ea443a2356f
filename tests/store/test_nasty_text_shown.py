"""Nasty text from the llm to the page (A46): stored alike on both databases, sent alike, and shown by name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from runs.engine.messages import clean
from runs.models import Event, Run
from runs.present import socket
from runs.present.now import Now
from runs.store.verify import verify
from tests.builders import Building, a_person
from tests.story import Call, Step
from tests.twins import Twin

from .test_nasty_text import NASTY
from .test_same_on_both import both, of_each, twin  # noqa: F401

HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202e\u2066\ufeff\U000e0041]|[\ud800-\udfff]")
BY_LOT = re.compile(
    r"r-[0-9a-z]{5}|\d{4}-\d\d-\d\d[T ][\d:.]+|\d\d:\d\d(:\d\d)?|\b\d+ s\b|[0-9a-f]{12,}|toolu_\w+"
    r"|value=\"\w{20,}\"|\"X-CSRFToken\": \"\w+\"|\$[\d.,]+|<span class=.unknown.>unknown</span>"
)
"""What no two runs have in common: names, moments, ages, hashes, keys of forms."""


def told(nasty: str) -> Building:
    """A run in which it is thought, said, asked of a tool and given back, noted, and written by a person."""
    words = str(clean(nasty))
    made = Building.start(a_person(), limit=400_000, goal=words, title=words[:80], llm="rehearsal")
    call = Call(name="read_file", input={"path": words}, result=words)
    note = ("facts", words[:400])
    made.take(Step(words=words + ".", thinking=words, calls=(call,), said=words + "!", notes=(note,)))
    return made


def shown(made: Building) -> dict[str, str]:
    """What a page of the run gets, by the way it gets it."""
    run = Run.objects.get(pk=made.run.pk)
    assert verify(run).ok
    client = Client()
    client.force_login(run.owner)
    items: list[dict[str, Any]] = socket.items(
        Now(run=run), list(Event.objects.filter(run=run).order_by("seq"))
    )
    ways = {
        "socket": "".join(item.get("html", "") for item in items),
        "snapshot": socket.snapshot(Now(run=run)),
    }
    for way in ("", "?turn=1", "archive/", "window/"):
        answer = client.get(f"/runs/{run.slug}/{way}")
        assert answer.status_code == 200, way
        ways[way or "page"] = answer.content.decode()
    return {way: BY_LOT.sub("…", html) for way, html in ways.items()}


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_it_is_sent_and_shown_alike_and_nothing_hidden_reaches_a_page(
    both: tuple[Twin, Twin],  # noqa: F811
    nasty: str,
) -> None:
    sqlite, postgres = of_each(both, lambda: shown(told(nasty)))
    for way, html in sqlite.items():
        assert html == postgres[way], way
        assert not HIDDEN.search(html), way


def test_what_is_hidden_is_named(both: tuple[Twin, Twin]) -> None:  # noqa: F811
    def look() -> dict[str, str]:
        return shown(told("a\u202eb\x1b[31mc\u200bd \x00 \ud800"))

    for ways in of_each(both, look):
        for way in ("socket", "page", "?turn=1", "archive/"):
            assert all(name in ways[way] for name in ("right-to-left override", "ESC[31m", "␀", "\ufffd")), (
                way
            )
