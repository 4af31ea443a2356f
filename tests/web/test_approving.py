"""The card of a call that waits: it shows what runs, and its forms say which call and which input they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client

from runs import control, tasks
from runs.models import Order, Run
from runs.present import asking, socket
from runs.present.now import Now
from runs.store import approvals, page_reads
from tests.builders import a_person
from tests.runner import conftest as walking

pytestmark = pytest.mark.django_db
"""No worker: the tests walk the slices themselves."""


walk = walking.walk


@pytest.fixture
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walk: walking.Walk) -> Callable[..., Run]:
    monkeypatch.setattr(tasks, "hint", lambda run_id: None)

    def made(tools: str = '"write_file"') -> Run:
        policy = tmp_path / "asks.toml"
        policy.write_text(f"[approval]\ntools = [{tools}]\n")
        asked = control.Start(goal="Greet.", llm="rehearsal/hello", pace="fast", policy=str(policy))
        return walk(control.start(a_person(), asked))

    return made


@pytest.fixture
def client_of_ada(client: Client) -> Client:
    client.force_login(a_person())
    return client


def card(client: Client, run: Run) -> str:
    page = client.get(f"/runs/{run.slug}/").content.decode()
    found = re.search(r'<div class="asks-card".*?asks-hint.*?</div></div>', page, re.DOTALL)
    assert found, "no card"
    return found.group()


def test_the_card_shows_path_and_content_and_carries_call_and_hash(
    client_of_ada: Client, waits: Callable[..., Run]
) -> None:
    run = waits()
    html, asks = card(client_of_ada, run), asking.asks(run)
    assert asks is not None
    assert "hello.py" in html
    assert "print(&quot;Hello from the rehearsal.&quot;)" in html
    assert html.count(f'value="{asks.input_sha256}"') == 4
    assert 'name="set.content"' in html


def test_a_command_is_shown_whole(client_of_ada: Client, waits: Callable[..., Run]) -> None:
    run = waits('"run_command"')
    html = card(client_of_ada, run)
    assert '<pre class="code " hx-disable>python3 hello.py</pre>' in html
    assert 'name="set.command"' in html


def test_the_banner_leads_to_the_card_and_offers_no_resume(
    client_of_ada: Client, waits: Callable[..., Run]
) -> None:
    page = client_of_ada.get(f"/runs/{waits().slug}/").content.decode()
    banner = page[page.index('<div id="banner"') :].partition("</div>")[0]
    assert "Needs approval." in banner
    assert "data-asks" in banner
    assert "Resume" not in banner


def test_an_edit_in_a_form_keeps_the_other_arguments(
    client_of_ada: Client, waits: Callable[..., Run], walk: walking.Walk
) -> None:
    run = waits()
    asks = asking.asks(run)
    assert asks is not None
    form = {
        "call": asks.call,
        "input_sha256": asks.input_sha256,
        "input": asks.whole,
        "set.content": "print(1)\r\n",
    }
    client_of_ada.post(f"/runs/{run.slug}/orders/edit/", form)
    assert Order.objects.get(run=run).args["input"] == {"path": "hello.py", "content": "print(1)\n"}
    walk(run)
    assert (Path(run.workspace) / "hello.py").read_text() == "print(1)\n"


def test_an_emptied_field_is_empty_and_not_the_old_one(
    client_of_ada: Client, waits: Callable[..., Run], walk: walking.Walk
) -> None:
    run = waits('"run_command"')
    asks = asking.asks(run)
    assert asks is not None
    form = {"call": asks.call, "input_sha256": asks.input_sha256, "input": asks.whole, "set.command": ""}
    client_of_ada.post(f"/runs/{run.slug}/orders/edit/", form)
    assert walk(run).state == "waiting"
    order = Order.objects.get(run=run)
    assert (order.state, "command" in order.reason) == ("rejected", True)


def test_json_tells_what_waits_and_takes_the_answer(
    client_of_ada: Client, waits: Callable[..., Run], walk: walking.Walk
) -> None:
    run = waits()
    headers = {"accept": "application/json"}
    asks = client_of_ada.get(f"/runs/{run.slug}/", headers=headers).json()["asks"]
    assert (asks["tool"], asks["about"], asks["input"]["path"]) == ("write_file", "approval", "hello.py")
    body = {"call": asks["call"], "input_sha256": asks["input_sha256"], "always": True}
    path = f"/runs/{run.slug}/orders/approve/"
    told = client_of_ada.post(path, json.dumps(body), content_type="application/json", headers=headers)
    assert (told.status_code, told.json()["state"]) == (202, "pending")
    assert walk(run).state == "done"
    assert client_of_ada.get(f"/runs/{run.slug}/", headers=headers).json()["asks"] is None


def test_a_stale_card_is_told_so(
    client_of_ada: Client, waits: Callable[..., Run], walk: walking.Walk
) -> None:
    run = waits('"write_file", "run_command"')
    old = asking.asks(run)
    assert old is not None
    form = {"call": old.call, "input_sha256": old.input_sha256}
    client_of_ada.post(f"/runs/{run.slug}/orders/approve/", form)
    walk(run)
    client_of_ada.post(f"/runs/{run.slug}/orders/deny/", {**form, "reason": "too late"})
    walk(run)
    late = Order.objects.order_by("-pk")[0]
    assert (late.state, "another call waits now" in late.reason) == ("rejected", True)
    again = client_of_ada.post(
        f"/runs/{run.slug}/orders/answer/",
        {"call": old.call, "outcome": "done"},
        headers={"accept": "application/json"},
    )
    assert (again.status_code, again.json()["state"]) == (409, "rejected")


def test_the_socket_brings_the_card_and_takes_it_away(waits: Callable[..., Run], walk: walking.Walk) -> None:
    run = waits()
    events = page_reads.events(run, ("approval.asked", "run.state"), limit=10)
    shown = "".join(item.get("html", "") for item in socket.items(Now(run=run), events))
    assert 'id="asks"' in shown
    asks = asking.asks(run)
    assert asks is not None
    control.order(a_person(), run, "approve", {"call": asks.call, "input_sha256": asks.input_sha256})
    walk(run)
    later = page_reads.events(run, ("run.state", "approval.answered"), limit=10, after=events[-1].seq)
    gone = "".join(item.get("html", "") for item in socket.items(Now(run=run), later))
    assert 'id="asks"' not in gone
    assert f'id="e-2-{1 if "e-2-1" in gone else 2}"' in gone


def test_hostile_text_in_a_call_is_only_text(waits: Callable[..., Run], client_of_ada: Client) -> None:
    run = waits()
    question = approvals.question(run)
    assert question is not None
    nasty = "</pre><script>alert(1)</script>\u202egpj.exe"
    ask = asking.ask(
        question, {"name": "run_command", "input": {"command": nasty}, "id": "x", "type": "tool_use"}
    )
    html = render_to_string("run/asks.html", {"run": run, "ask": ask})
    assert "<script>" not in html
    assert "right-to-left override" in html


def test_a_very_long_input_is_cut_and_says_so(waits: Callable[..., Run]) -> None:
    question = approvals.question(waits())
    assert question is not None
    given = {"path": "a.txt", "content": "x" * (asking.LONG + 7)}
    ask = asking.ask(question, {"name": "write_file", "input": given, "id": "x", "type": "tool_use"})
    assert [(part.name, part.more) for part in ask.parts] == [("path", 0), ("content", 7)]
    assert ask.draft is None
    html = render_to_string("run/asks.html", {"run": question.call.run, "ask": ask})
    assert "Edit</summary>" not in html
    assert "too many to be changed here" in html
    assert f"{question.call.tool_use_id} - --sha256 {question.input_sha256} &lt; input.json" in html


def test_what_becomes_of_a_file_is_shown_against_what_is_there(waits: Callable[..., Run]) -> None:
    run = waits()
    (Path(run.workspace) / "hello.py").write_text("import sys\nprint('Hello')\n")
    question = approvals.question(run)
    assert question is not None
    given = {"path": "hello.py", "content": "import sys\nprint('Goodbye')\n"}
    ask = asking.ask(question, {"name": "write_file", "input": given, "id": "x", "type": "tool_use"})
    html = render_to_string("run/asks.html", {"run": run, "ask": ask})
    assert 'aria-label="Changes to hello.py: 1 line added, 1 removed"' in html
    assert "<mark>Goodbye</mark>" in html
    assert html.count("<pre") == 1 + len(ask.parts)
    assert "The call, word for word" in html
