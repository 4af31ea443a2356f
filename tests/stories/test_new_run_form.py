"""Ada starts a run from the page: mistakes are answered next to their field, and leave nothing behind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from runs.models import Run
from tests.living import In, LiveHouse, expect

from .telling import until


def form_of(house: LiveHouse) -> In:
    ada = house.page("/runs/new/")
    expect(ada.get_by_label("Llm")).to_be_focused()
    return ada


def test_a_rehearsal_needs_nothing_but_start(house: LiveHouse) -> None:
    ada = form_of(house)
    expect(ada.get_by_label("Goal")).to_be_hidden()
    ada.get_by_label("Llm").fill("rehearsal/hello")
    ada.get_by_role("button", name="Start").click()
    expect(ada).to_have_url(re.compile(r"/runs/r-[0-9a-z]{5}/$"))
    run = Run.objects.get()
    assert run.goal == "Write a program that greets, and run it once."
    until(run, "done")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("Llm", "rehearsal/opera", "There is no rehearsal 'opera'."),
        ("Llm", "gpt-17", "'gpt-17' is not known"),
        ("Window limit", "3000", "A limit of 3,000 tokens is too small"),
        ("Window limit", "many", "Give a whole number of tokens, like 24000"),
        ("At most turns", "-1", "Give a whole number, like 200"),
        ("At most dollars", "cheap", "Give dollars as a number, like 2.50"),
    ],
)
def test_a_mistake_is_answered_beside_its_field(
    house: LiveHouse, field: str, value: str, sentence: str
) -> None:
    """The field has the focus, keeps what was typed, and says cause and cure."""
    ada = form_of(house)
    ada.get_by_label(field).fill(value)
    if value == "gpt-17":
        ada.get_by_label("Goal").fill("Try it.")
    ada.get_by_role("button", name="Start").click()
    wrong = ada.get_by_label(field)
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_have_value(value)
    expect(wrong).to_be_focused()
    expect(ada.locator(f"#{wrong.get_attribute('aria-describedby')}")).to_contain_text(sentence)
    assert nothing_is_left()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"goal": ""}, "The goal is empty."),
        ({"goal": "a" * 200_001}, "The goal has 200,001 characters, and 200,000 are allowed."),
        ({"workspace": "/no/such/folder"}, "/no/such/folder"),
        ({"workspace": "{file}"}, "is a file"),
        ({"workspace": "/etc"}, "belongs to root"),
        ({"policy": "lavish"}, "lavish"),
        ({"limit": "2000"}, "A limit of 2,000 tokens is too small"),
    ],
)
def test_scripts_get_the_same_sentences(
    house: LiveHouse, tmp_path: Path, asked: dict[str, str], sentence: str
) -> None:
    """422 with one sentence and the field it is about; no row, no folder."""
    there = tmp_path / "notes.txt"
    there.write_text("a file", encoding="utf-8")
    given = {"llm": "claude-opus-5-5", "goal": "Tidy up.", **asked}
    given = {name: value.replace("{file}", str(there)) for name, value in given.items()}
    answer = house.client().post("/runs/", given, headers={"accept": "application/json"})
    assert answer.status_code == 422
    told: dict[str, Any] = answer.json()
    assert sentence in told["error"]
    assert told["field"] == next(iter(asked))
    assert nothing_is_left()


def nothing_is_left() -> bool:
    folder = Path(settings.AGENTDASH_HOME) / "workspaces"
    known = set(Run.objects.values_list("slug", flat=True))
    new = {one.name for one in folder.glob("*")} - STANDING if folder.exists() else set()
    return not known and not new


STANDING: set[str] = set()


@pytest.fixture(autouse=True)
def before() -> None:
    """Workspaces that other stories made."""
    folder = Path(settings.AGENTDASH_HOME) / "workspaces"
    STANDING.clear()
    STANDING.update(one.name for one in folder.glob("*"))


def test_the_dialog_on_the_fleet_answers_in_place(house: LiveHouse) -> None:
    ada = house.page("/")
    ada.get_by_role("button", name="Start a rehearsal run").click()
    expect(ada).to_have_url(re.compile(r"/runs/r-[0-9a-z]{5}/$"))
    ada.goto(house.address + "/")
    ada.get_by_role("link", name=re.compile("New run")).click()
    dialog = ada.locator("#dialog")
    expect(dialog.get_by_label("Llm")).to_have_value("rehearsal")
    dialog.get_by_label("Window limit").fill("12")
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_contain_text("A limit of 12 tokens is too small")
    expect(dialog).to_be_visible()
    ada.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert Run.objects.count() == 1
