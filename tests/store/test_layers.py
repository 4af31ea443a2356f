"""The engine's ports over the archive: history and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import InMemoryStorage

from runs.engine.ports import RunFiles
from runs.store.layers import DbHistory, DiskFiles, StoredFiles, excerpt, files_of, spool_of
from tests.builders import a_run


@pytest.mark.django_db
def test_history_gives_a_turns_messages_and_any_single_one() -> None:
    history = DbHistory(a_run(turns=4, order=""))
    assert [message.kind.value for message in history.of_turn(2)] == ["answer", "results"]
    assert history.message(1).is_persons
    with pytest.raises(LookupError, match="no message 999"):
        history.message(999)
    assert list(history.of_turn(99)) == []


@pytest.mark.django_db
def test_history_is_searched_for_whole_lines_with_their_turn() -> None:
    history = DbHistory(a_run(turns=4, order=""))
    hits = history.search("cursor_step_7", 5)
    assert [(hit.turn, hit.kind) for hit in hits] == [(1, "results")]
    assert "def cursor_step_7(rows, last, last_id):" in hits[0].text.splitlines()
    assert hits[0].score > 0
    assert len(history.search("page", 2)) == 2


def test_an_excerpt_prefers_the_lines_that_hold_most_of_the_words() -> None:
    lines = ["the file"] * 50 + ["the race in the file"] + ["the file"] * 50
    assert "the race in the file" in excerpt("\n".join(lines), "race file", most=60)
    assert len(excerpt("\n".join(lines), "race file", most=60)) < 200


def test_an_excerpt_of_text_without_a_match_is_its_beginning() -> None:
    assert excerpt("one\ntwo\nthree\nfour", "zebra") == "one\ntwo\nthree"
    assert excerpt("", "zebra") == ""


@pytest.fixture(params=["disk", "stored"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> RunFiles:
    """On a disk of one's own, or in any storage that Django knows."""
    return (
        DiskFiles(tmp_path / "r-abcde")
        if request.param == "disk"
        else StoredFiles(InMemoryStorage(), "r-abcde")
    )


def test_files_are_written_read_and_listed(files: RunFiles) -> None:
    assert list(files.names()) == []
    assert files.read("NOTES.md") is None
    files.write("NOTES.md", "a\r\nb\n")
    files.write("results/m12-0-0123abcd.txt", "héllo")
    files.write("NOTES.md", "new")
    assert files.read("NOTES.md") == "new"
    assert files.read("results/m12-0-0123abcd.txt") == "héllo"
    assert list(files.names()) == ["NOTES.md", "results/m12-0-0123abcd.txt"]


def test_line_ends_stay_as_they_are(files: RunFiles) -> None:
    files.write("x.txt", "a\r\nb\rc\n")
    assert files.read("x.txt") == "a\r\nb\rc\n"


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "/etc/passwd", "a/../b", "a/b/c", ".hidden", "a\x00b", "a b", "ü"]
)
def test_no_name_leads_out_of_the_folder(files: RunFiles, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a run's file"):
        files.write(name, "x")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "link.txt").symlink_to(secret)
    assert DiskFiles(folder).read("link.txt") is None


def test_a_runs_files_lie_outside_its_workspace() -> None:
    assert files_of("r-abcde").folder.parts[-2:] == ("runs", "r-abcde")


def test_a_storage_of_ones_own_takes_the_files_and_commands_still_spool_on_the_disk(settings: Any) -> None:
    elsewhere = {"BACKEND": "django.core.files.storage.InMemoryStorage"}
    settings.STORAGES = {**settings.STORAGES, "runs": elsewhere}
    assert isinstance(files_of("r-abcde"), StoredFiles)
    assert spool_of("r-abcde").is_relative_to(settings.AGENTDASH_HOME)
