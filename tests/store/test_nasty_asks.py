"""What a person or a script sends may be endless, enormous or full of NUL: it is answered with a word, on both."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs.models import Run
from tests.builders import a_person, a_run

pytestmark = pytest.mark.django_db

NASTY = [
    "\x00",
    "a\x00b",
    "\ud800",
    "x" * 300,
    "-1",
    str(2**31),
    str(2**63),
    "9" * 40,
    "NaN",
    "1e999",
    "\u202e",
    " ",
]
JSON = {"accept": "application/json"}
Ask = Callable[[Client, Run, str], Any]


def order(kind: str, **fixed: Any) -> Ask:
    """An order with one value that is nasty: where `fixed` says None."""

    def ask(client: Client, run: Run, value: str) -> Any:
        body = json.dumps({name: value if given is None else given for name, given in fixed.items()})
        where = f"/runs/{run.slug}/orders/{kind}/"
        return client.post(where, body, content_type="application/json", headers=JSON)

    return ask


def read(where: str) -> Ask:
    def ask(client: Client, run: Run, value: str) -> Any:
        name = where.partition("?")[2]
        path = where.partition("?")[0].replace("RUN", run.slug)
        return client.get(path, {name: value.encode("utf-8", "replace").decode()}, headers=JSON)

    return ask


def begin(name: str) -> Ask:
    def ask(client: Client, run: Run, value: str) -> Any:
        body = json.dumps({"goal": "Say hello.", "llm": "rehearsal/hello", name: value})
        return client.post("/runs/", body, content_type="application/json", headers=JSON)

    return ask


ASKS: dict[str, Ask] = {
    "client key": order("say", text="Go on.", client_key=None),
    "seen seq": order("compact", seen_seq=None),
    "text": order("say", text=None),
    "keep": order("compact", keep=None),
    "steps": order("step", n=None),
    "call": order("approve", call=None, input_sha256="0" * 64),
    "turn": read("/runs/RUN/?turn"),
    "window": read("/runs/RUN/window/?turn"),
    "archive": read("/runs/RUN/archive/?q"),
    "archive message": read("/runs/RUN/archive/?message"),
    "events": read("/runs/RUN/events/?after"),
    "search": read("/search/?q"),
    "fleet": read("/?q"),
    "goal": begin("goal"),
    "llm": begin("llm"),
    "title": begin("title"),
    "policy": begin("policy"),
    "limit": begin("limit"),
    "workspace": begin("workspace"),
}


@pytest.mark.parametrize("where", ASKS)
def test_it_is_answered_and_never_an_error_of_ours(where: str) -> None:
    run, client = a_run(a_person(), turns=3, order="", state="paused", reason="ada"), Client()
    client.force_login(run.owner)
    client.raise_request_exception = False
    answers = {value[:20]: ASKS[where](client, run, value).status_code for value in NASTY}
    assert {value: status for value, status in answers.items() if status >= 500} == {}
