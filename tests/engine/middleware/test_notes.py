"""Notes stand outside what is summarised, so that no summary can lose them."""

from __future__ import annotations

import json
from pathlib import Path

from runs.engine.middleware.base import Asked
from runs.engine.middleware.notes import Notes

from ..stage import Play, answer, play, use


def noted(*more: object, workspace: Path = Path("/nowhere"), **sections: object) -> Play:
    steps = [
        answer("I note.", use("n1", "take_note", section="facts", text="LAMP-9 is brass")),
        answer("And.", use("n2", "take_note", section="pending", text="polish it")),
        answer("Done that.", use("n3", "update_note", number=2, state="done")),
        *(answer(f"Look {at}.", use(f"l{at}", "list_files", path=".")) for at in range(4)),
        *more,
    ]
    stage = play(*steps, workspace=workspace, valves={"spin_nudge": 0, "spin_pause": 0}, **sections)  # type: ignore[arg-type]
    for _ in range(7):
        stage.turn()
    return stage


def test_they_are_re_entered_after_a_compaction_open_ones_first() -> None:
    stage = noted(answer("Some work was done."))
    stage.take(stage.agent.compact(Asked(keep=2)))
    head = json.dumps(stage.window()[0])
    assert "- [1, open] LAMP-9 is brass" in head
    assert "- [2, done] polish it" in head


def test_they_are_re_entered_after_a_clear() -> None:
    stage = noted()
    stage.take(stage.agent.clear(Asked()))
    assert "LAMP-9 is brass" in json.dumps(stage.window()[0])


def test_the_summariser_is_told_not_to_repeat_them() -> None:
    """Trap 1: notes inside what is summarised come back as summary, until summaries no longer fit."""
    stage = noted(answer("Some work was done."))
    stage.take(stage.agent.compact(Asked(keep=2)))
    prompt = stage.bodies()[-1]["messages"][-1]["content"][-1]["text"]
    aside = prompt.partition("They are not to be repeated:")[2]
    assert "LAMP-9 is brass" in aside


def test_a_file_of_the_run_says_what_the_notebook_says() -> None:
    files = noted().agent.desk.files
    assert files.read("NOTES.md") == "pending:\n2 [done] polish it\nfacts:\n1 [open] LAMP-9 is brass\n"


def test_the_file_lies_in_the_workspace_where_the_policy_says_so_under_the_name_of_the_run(
    tmp_path: Path,
) -> None:
    """Other runs and people work there too: nobody's NOTES.md is written over."""
    desk = noted(workspace=tmp_path, notes={"mirror": "workspace"}).agent.desk
    file = desk.workspace / f"NOTES-{desk.slug}.md"
    assert file.read_text() == "pending:\n2 [done] polish it\nfacts:\n1 [open] LAMP-9 is brass\n"
    assert desk.files.read("NOTES.md") is None


def test_a_workspace_that_is_away_for_a_turn_gets_its_notes_with_the_next(tmp_path: Path) -> None:
    desk = noted(workspace=tmp_path, notes={"mirror": "workspace"}).agent.desk
    file, away = desk.workspace / f"NOTES-{desk.slug}.md", desk.workspace.with_name("away")
    file.unlink()
    desk.workspace.rename(away)
    notes = Notes()
    notes.start(desk)
    assert list(notes.after_turn(desk.window)) == []
    away.rename(desk.workspace)
    assert list(notes.after_turn(desk.window)) == []
    assert "LAMP-9 is brass" in file.read_text()


def test_a_run_without_notes_writes_no_file() -> None:
    stage = play(answer(use("a", "list_files", path=".")))
    stage.turn()
    assert stage.agent.desk.files.names() == []


def test_two_notes_of_one_turn_get_two_numbers() -> None:
    both = [use(f"n{at}", "take_note", section="facts", text=f"fact {at}") for at in range(2)]
    stage = play(answer(*both))
    stage.turn()
    assert sorted(stage.agent.desk.notes) == [1, 2]


def test_without_notes_there_are_no_tools_and_no_word_of_them() -> None:
    stage = play(answer("Done."), notes={"on": False})
    stage.turn()
    (body,) = stage.bodies()
    assert "take_note" not in {tool["name"] for tool in body["tools"]}
    assert "take a note" not in body["system"][0]["text"]


def test_with_notes_the_prompt_says_when_to_take_one() -> None:
    stage = play(answer("Done."))
    stage.turn()
    assert "take a note first, then go on" in stage.bodies()[0]["system"][0]["text"]
