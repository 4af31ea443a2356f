"""Whose a workspace must be, and who commands run as."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runs.engine.errors import NotRun
from runs.engine.sandbox import owner, refusal


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, "is_root", lambda: True)


def test_a_folder_that_is_not_there_is_refused_with_the_cure(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").endswith("No such file or directory. Name a folder that exists.")


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file. Name a folder." in refusal(tmp_path / "file")


def test_a_folder_of_root_is_refused_whoever_asks() -> None:
    assert "belongs to root" in refusal(Path("/usr"))
    assert "chown -R USER /usr" in refusal(Path("/usr"))


def test_a_root_worker_runs_as_the_owner_of_the_workspace(tmp_path: Path, as_root: None) -> None:
    if os.geteuid() == 0:
        os.chown(tmp_path, 1234, 0)
    found = owner.tenant(tmp_path, slot=1, made=False)
    assert found.uid == tmp_path.stat().st_uid != 0
    assert found.gid != 0
    assert found.drops


def test_an_unmade_workspace_of_root_has_no_tenant() -> None:
    with pytest.raises(NotRun, match="belongs to root"):
        owner.tenant(Path("/usr"), slot=1, made=False)


def test_within_means_strictly_below(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert owner.is_within(tmp_path / "a/b", [tmp_path / "a"])
    assert not owner.is_within(tmp_path / "a", [tmp_path / "a"])
    assert not owner.is_within(tmp_path / "a/../../x", [tmp_path / "a"])
    assert not owner.is_within(tmp_path, [])
