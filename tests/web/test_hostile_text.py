"""What a model or a tool prints runs nothing in a browser: on live page, archive, diff, search, notes, window.

The payloads stand in the goal, the title, what was said, thought, answered, called, found, noted and summarised.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from runs.engine import events as ev
from runs.engine.messages import Author, Kind, Role, text
from runs.models import Edit, Run
from runs.present.now import Now
from tests import story
from tests.builders import Building

EVIL = (
    "evil <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![i](https://canary.example/p.png) "
    "</script><script>alert(2)</script></textarea></pre><div hx-get='/runs/1/delete' hx-trigger='load'>boo</div> "
    "<svg/onload=alert(3)> {{ 7*7 }} {% load x %} &lt;b&gt; \" ' onmouseover=alert(4) <a href='data:text/html,x'>y</a>"
)
PICTURE = "iVBORw0KGgo" + "A" * 60_000


class Active(HTMLParser):
    """Everything on a page that could act: of ours there is none but scripts by address and htmx on our own parts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        handlers = [name for name in given if name.startswith("on")]
        if handlers or tag in ("iframe", "object", "embed", "base", "svg") and "onload" in given:
            self.found.append(f"<{tag} {handlers}>")
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self.found.append("an inline script")
        if tag == "img" and not str(given.get("src", "")).startswith("/"):
            self.found.append(f"a picture from {given.get('src')}")
        for name in ("href", "src", "action", "hx-get", "hx-post"):
            value = str(given.get(name) or "")
            if value.startswith(("javascript:", "data:", "vbscript:")) or "/delete" in value:
                self.found.append(f"{name}={value}")


@pytest.fixture
def hostile(ada: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run in which every text is the payload: two compactions, notes, an error, a picture in a result."""
    monkeypatch.setattr(story, "EPISODE", EVIL)
    monkeypatch.setattr(story, "LEDGER", f"files read: {EVIL}")
    made = Building.start(ada, limit=24_000, goal=EVIL, title=EVIL, llm="rehearsal")
    call = story.Call(name="run_command", input={"command": EVIL}, result=EVIL, error=True)
    read = story.Call(name="read_file", input={"path": EVIL}, result=EVIL)
    for turn in range(6):
        said = EVIL if turn == 2 else ""
        made.take(
            story.Step(
                words=EVIL,
                calls=(call, read),
                thinking=EVIL,
                said=said,
                notes=(("facts", EVIL),),
                recalls=EVIL,
            )
        )
    made.clear_results(keep=1)
    made.compact(keep=4)
    made.take(story.Step(words=EVIL, calls=(read,)))
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    shown = made._message(Role.USER, Author.PERSON, Kind.SAY, [text(EVIL), picture])
    made._write(ev.Said(turn=made.turn, message=shown))
    made.rest("paused", EVIL)
    return Run.objects.get(pk=made.run.pk)


def addresses(run: Run) -> Iterator[str]:
    at = f"/runs/{run.slug}/"
    yield from (
        "/",
        at,
        f"{at}?turn=3",
        f"{at}parts/feed/",
        f"{at}parts/table/",
        f"{at}archive/",
        f"{at}window/",
    )
    yield from (f"{at}archive/?q=evil", "/search/?q=evil", f"{at}window/?turn=3", f"{at}dialogs/compact/")
    for tab in ("window", "notes", "episodes", "policy", "log"):
        yield f"{at}parts/inspector/?tab={tab}"
    for edit in Edit.objects.filter(run=run).values_list("number", flat=True):
        yield f"{at}compactions/{edit}/"
    for message in range(1, 8):
        yield f"{at}archive/messages/{message}/"
        yield f"{at}parts/body/{message}/0/"


def test_no_page_has_anything_active_in_it(client: Client, hostile: Run) -> None:
    seen = 0
    for address in addresses(hostile):
        answer = client.get(address)
        assert answer.status_code in (200, 302, 404), address
        page = answer.content.decode()
        reader = Active()
        reader.feed(page)
        assert reader.found == [], address
        assert " 49 " not in page.replace("7*7", ""), f"a template was run at {address}"
        seen += "evil" in page
    assert seen >= 12


def test_a_picture_is_never_put_into_a_page(client: Client, hostile: Run) -> None:
    for address in addresses(hostile):
        page = client.get(address).content.decode()
        assert PICTURE[:200] not in page, address
        assert len(page) < 700_000, address


def test_the_same_rows_come_over_the_socket(hostile: Run) -> None:
    from runs.models import Event
    from runs.present import socket

    events = list(Event.objects.filter(run=hostile).order_by("seq"))
    for item in socket.items(Now(run=hostile), events):
        reader = Active()
        reader.feed(str(item.get("html", "")))
        assert reader.found == []
