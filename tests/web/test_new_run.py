"""Starting a run: mistakes are answered next to their field, and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from runs.models import Run

from .conftest import HTMX, JSON


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker hears of these runs: they are only made."""
    monkeypatch.setattr("runs.tasks.hint", lambda run_id: None)


def folders() -> set[str]:
    home = Path(settings.AGENTDASH_HOME) / "workspaces"
    return {folder.name for folder in home.iterdir()} if home.exists() else set()


def test_a_rehearsal_needs_neither_goal_nor_workspace(client: Client) -> None:
    answer = client.post("/runs/", {"llm": "rehearsal", "policy": "demo"})
    run = Run.objects.get()
    assert answer.status_code == 303
    assert answer["Location"] == f"/runs/{run.slug}/"
    assert run.goal
    assert run.policy["window"]["limit"] == 24_000


def test_from_the_dialog_the_browser_is_led_to_the_run(client: Client) -> None:
    answer = client.post("/runs/", {"llm": "rehearsal", "policy": "demo"}, **HTMX)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == f"/runs/{Run.objects.get().slug}/"


def test_as_json_the_answer_is_the_runs_address(client: Client) -> None:
    answer = client.post("/runs/", {"llm": "rehearsal"}, content_type="application/json", **JSON)
    assert answer.status_code == 201
    assert answer.json().keys() == {"run", "url", "state"}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"llm": "claude-haiku-4-5", "goal": ""}, "goal"),
        ({"llm": "claude-haiku-4-5", "goal": "x" * 200_001}, "goal"),
        ({"llm": "claude-haiku-4-5", "goal": "do it", "workspace": "/no/such/folder"}, "workspace"),
        ({"llm": "claude-haiku-4-5", "goal": "do it", "workspace": "/etc/hostname"}, "workspace"),
        ({"llm": "claude-haiku-4-5", "goal": "do it", "workspace": "/"}, "workspace"),
        ({"llm": "rehearsal", "workspace": "/tmp"}, "workspace"),
        ({"llm": "rehearsal", "limit": "12 apples"}, "limit"),
        ({"llm": "rehearsal", "limit": "900"}, "limit"),
        ({"llm": "rehearsal", "policy": "frugl"}, "policy"),
        ({"llm": "rehearsal", "max_turns": "-4"}, "max_turns"),
        ({"llm": "rehearsal", "max_usd": "lots"}, "max_usd"),
        ({"llm": "no-such-llm", "goal": "do it"}, "llm"),
        ({"llm": "rehearsal/nothing", "goal": "do it"}, "llm"),
    ],
)
def test_a_mistake_is_answered_next_to_its_field(client: Client, given: dict[str, str], field: str) -> None:
    before = folders()
    answer = client.post("/runs/", given, **HTMX)
    page = answer.content.decode()
    assert answer.status_code == 422
    ids = {"llm": "nr-llm", "max_turns": "nr-turns", "max_usd": "nr-usd"}
    assert f'id="{ids.get(field, "nr-" + field)}-why"' in page
    assert page.count('class="why"') == 1
    assert Run.objects.count() == 0
    assert folders() == before


def test_what_was_typed_is_still_there_after_a_mistake(client: Client) -> None:
    page = client.post("/runs/", {"llm": "rehearsal", "limit": "many", "max_usd": "2.50"}).content.decode()
    assert 'value="many"' in page
    assert 'value="2.50"' in page
    assert "<html" in page


def test_a_mistake_as_json_names_field_and_cure(client: Client) -> None:
    answer = client.post(
        "/runs/", {"llm": "rehearsal", "limit": "x"}, content_type="application/json", **JSON
    )
    assert answer.status_code == 422
    assert answer.json()["field"] == "limit"
    assert "whole number" in answer.json()["error"]


def test_a_zero_in_json_is_a_zero_and_null_is_left_to_the_policy(client: Client) -> None:
    for given, usd in ((0, 0), (None, 5)):
        body = {"llm": "rehearsal", "policy": "default", "max_usd": given}
        made = client.post("/runs/", body, content_type="application/json", **JSON).json()
        assert Run.objects.get(slug=made["run"]).policy["valves"]["usd"] == usd


def test_json_that_is_none_is_refused(client: Client) -> None:
    answer = client.post("/runs/", "{nonsense", content_type="application/json", **JSON)
    assert answer.status_code == 422
    assert Run.objects.count() == 0


def test_the_form_opens_as_a_dialog_and_as_a_page(client: Client) -> None:
    assert "<html" not in client.get("/runs/new/", **HTMX).content.decode()
    page = client.get("/runs/new/").content.decode()
    assert "<html" in page
    assert 'name="goal"' in page
