"""Starting a run: what comes about, and what is refused with a sentence and leaves nothing behind."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from runs import control, tasks
from runs.models import Event, Message, Run, Version
from runs.store import windows
from tests.builders import a_person

pytestmark = pytest.mark.django_db

ASKED = control.Start(goal="Say hello to the world.", llm="rehearsal/hello")
REAL = control.Start(goal="Tidy up.", llm="claude-sonnet-5-5")


@pytest.fixture(autouse=True)
def hints(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the workers were told."""
    told: list[int] = []
    monkeypatch.setattr(tasks, "hint", told.append)
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace as a person has it: not root's."""
    made = tmp_path / "work"
    made.mkdir()
    if os.geteuid() == 0:
        os.chown(made, 1000, 1000)
    return made


def refused(asked: control.Start) -> str:
    """The sentence; and nothing is half-made."""
    before = _made()
    with pytest.raises(control.Invalid) as caught:
        control.start(a_person(), asked)
    assert _made() == before
    return str(caught.value)


def _made() -> tuple[int, int, list[str]]:
    workspaces = Path(settings.AGENTDASH_HOME) / "workspaces"
    folders = sorted(path.name for path in workspaces.iterdir()) if workspaces.exists() else []
    return Run.objects.count(), Message.objects.count(), folders


def test_a_run_begins_with_its_goal_its_window_and_one_event(hints: list[int]) -> None:
    run = control.start(a_person(), ASKED)
    version, messages = windows.load(run)
    assert [(item.message, item.form.value, item.pinned) for item in version.items] == [(1, "full", False)]
    assert [message.content[0]["text"] for message in messages] == ["Say hello to the world."]
    assert messages[0].is_persons
    assert list(Event.objects.filter(run=run).values_list("seq", "kind")) == [(1, "run.created")]
    assert Version.objects.filter(run=run, number=1, base=1).exists()
    assert (run.state, run.version, run.next_seq, run.turn_no) == ("ready", 1, 2, 0)
    assert hints == [run.pk]


def test_a_rehearsal_gets_a_workspace_of_its_own_and_is_named_by_its_script() -> None:
    run = control.start(a_person(), replace(ASKED, pace="fast"))
    assert Path(run.workspace) == Path(settings.AGENTDASH_HOME) / "workspaces" / run.slug
    assert Path(run.workspace).is_dir()
    assert run.options == {"script": "hello", "pace": "fast"}


def test_a_slug_is_five_characters_nobody_mistakes_for_another() -> None:
    slug = control.start(a_person(), ASKED).slug
    assert slug.startswith("r-")
    assert len(slug) == 7
    assert not set(slug[2:]) & set("ilou")


def test_the_numbers_asked_for_stand_in_the_policy_of_the_run() -> None:
    asked = replace(ASKED, limit=24_000, max_turns=7, max_usd=1.5, policy="demo")
    run = control.start(a_person(), asked)
    assert run.policy["window"]["limit"] == 24_000
    assert run.policy["valves"] | {"turns": 7, "usd": 1.5} == run.policy["valves"]
    assert run.sums["window"]["limit"] == 24_000


def test_a_given_folder_becomes_the_workspace(folder: Path) -> None:
    assert control.start(a_person(), replace(REAL, workspace=str(folder))).workspace == str(folder.resolve())


def test_a_goal_keeps_its_words_and_loses_what_no_database_takes() -> None:
    run = control.start(a_person(), replace(ASKED, goal="  Zeile 1\r\nZeile\x002 \ud800 ok\rEnde  "))
    assert run.goal == "Zeile 1\nZeile␀2 � ok\nEnde"


def test_a_long_first_line_is_cut_for_the_title() -> None:
    run = control.start(a_person(), replace(ASKED, goal="word " * 60 + "\nmore"))
    assert len(run.title) <= 80
    assert run.title.endswith("…")


@pytest.mark.parametrize("goal", ["", "   \n\t", "\r\n"])
def test_an_empty_goal_is_refused(goal: str) -> None:
    assert "The goal is empty" in refused(replace(ASKED, goal=goal))


def test_a_goal_over_200_000_characters_is_refused() -> None:
    assert "200,001 characters" in refused(replace(ASKED, goal="x" * 200_001))


def test_a_workspace_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert "Name a folder that exists" in refused(replace(REAL, workspace=str(tmp_path / "nowhere")))


def test_a_workspace_that_is_a_file_is_refused(folder: Path) -> None:
    file = folder / "file.txt"
    file.write_text("x")
    assert "is a file" in refused(replace(REAL, workspace=str(file)))


def test_a_workspace_of_root_is_refused_with_the_cure() -> None:
    assert "chown" in refused(replace(REAL, workspace="/usr/lib"))


def test_a_workspace_that_holds_our_own_files_is_refused() -> None:
    assert "agentdash's own files" in refused(replace(REAL, workspace=str(settings.AGENTDASH_HOME)))
    assert "agentdash's own files" in refused(replace(REAL, workspace="/"))


def test_a_path_with_a_null_byte_is_refused() -> None:
    assert "is no path" in refused(replace(REAL, workspace="/tmp/\x00x"))


def test_a_rehearsal_takes_no_workspace(folder: Path) -> None:
    assert "makes its own workspace" in refused(replace(ASKED, workspace=str(folder)))


def test_a_limit_in_which_goal_and_tools_do_not_fit_is_refused() -> None:
    sentence = refused(replace(ASKED, limit=1_000))
    assert "1,000 tokens is too small" in sentence
    assert "or more" in sentence


def test_a_limit_it_names_as_enough_is_enough() -> None:
    sentence = refused(replace(ASKED, limit=1_000))
    enough = int(sentence.split("Set a limit of ")[1].split(" ")[0].replace(",", ""))
    assert control.start(a_person(), replace(ASKED, limit=enough)).state == "ready"


def test_an_unknown_policy_is_refused_with_its_nearest_neighbour() -> None:
    assert "Did you mean 'frugal'" in refused(replace(ASKED, policy="frugl"))


def test_an_unknown_llm_is_a_question_and_no_crash() -> None:
    assert "'gpt-nowhere' is not known" in refused(replace(ASKED, llm="gpt-nowhere"))


def test_an_unknown_rehearsal_is_refused_with_those_there_are() -> None:
    assert "hello" in refused(replace(ASKED, llm="rehearsal/nowhere"))


@pytest.mark.parametrize("change", [{"limit": -1}, {"max_turns": -1}, {"max_usd": -0.5}, {"pace": "slow"}])
def test_numbers_and_paces_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    assert refused(replace(ASKED, **change))


def test_a_workspace_that_was_made_goes_again_when_the_run_does_not_come_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(new: Any) -> Run:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("runs.store.archive.create", broken)
    before = _made()
    with pytest.raises(RuntimeError):
        control.start(a_person(), ASKED)
    assert _made() == before


def test_dollars_of_an_llm_without_a_price_are_refused_never_ignored(folder: Path) -> None:
    priceless = replace(REAL, llm="claude-sonnet-4-5", workspace=str(folder))
    sentence = refused(priceless)
    assert "prices.toml" in sentence
    assert "--max-usd 0" in sentence
    run = control.start(a_person(), replace(priceless, max_usd=0))
    assert run.policy["valves"]["usd"] == 0
