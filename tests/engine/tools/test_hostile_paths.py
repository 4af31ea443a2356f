"""Paths that would lead a file tool out of the workspace, or make it wait for ever. All are refused in a sentence."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from .conftest import Bench

pytestmark = pytest.mark.usefixtures("either_way")

SECRET = "the secret outside"


@pytest.fixture
def trapped(bench: Bench, tmp_path: Path) -> Bench:
    """A workspace full of traps."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    inside = bench.workspace
    bench.make("good.txt", "good")
    bench.make("folder/file.txt", "x")
    (inside / "to-secret").symlink_to(outside / "secret.txt")
    (inside / "to-shadow").symlink_to("/etc/shadow")
    (inside / "to-environ").symlink_to("/proc/self/environ")
    (inside / "to-folder").symlink_to(outside)
    (inside / "to-root").symlink_to("/proc/self/root")
    (inside / "up").symlink_to("..")
    (inside / "to-good").symlink_to("good.txt")
    (inside / "loop").symlink_to("loop")
    (inside / "dangling").symlink_to("nowhere")
    os.mkfifo(inside / "fifo")
    return bench


PATHS = [
    "to-secret",
    "to-shadow",
    "to-environ",
    "to-folder/secret.txt",
    "to-root/etc/passwd",
    "up/outside/secret.txt",
    "to-good",
    "loop",
    "dangling",
    "fifo",
    "../outside/secret.txt",
    "folder/../../outside/secret.txt",
    "..",
    "/etc/passwd",
    "~/x",
    "/workspace/../etc/passwd",
    "@run/../../outside/secret.txt",
    "@run/../x",
    "@run",
    "good.txt/x",
    "a\0b",
    "x" * 300,
    "x/" * 2000,
    "bad\ud800name\0",
    ".",
]


@pytest.mark.parametrize("path", PATHS)
def test_reading_is_refused(trapped: Bench, path: str) -> None:
    assert SECRET not in trapped.refuses("read_file", path=path)


@pytest.mark.parametrize("path", PATHS)
def test_writing_is_refused_and_changes_nothing(trapped: Bench, tmp_path: Path, path: str) -> None:
    before = _everything(tmp_path)
    trapped.refuses("write_file", path=path, content="evil")
    assert _everything(tmp_path) == before


@pytest.mark.parametrize("path", PATHS)
def test_editing_is_refused_and_changes_nothing(trapped: Bench, tmp_path: Path, path: str) -> None:
    before = _everything(tmp_path)
    trapped.refuses("edit_file", path=path, old="secret", new="evil")
    assert _everything(tmp_path) == before


@pytest.mark.parametrize("path", [path for path in PATHS if path not in (".", "@run")])
def test_listing_and_searching_are_refused(trapped: Bench, path: str) -> None:
    if not path.startswith("@run/"):
        assert SECRET not in trapped.refuses("list_files", path=path)
    assert SECRET not in trapped.refuses("search_files", path=path, pattern="secret|root")


def test_a_search_of_everything_follows_no_link_and_waits_for_nothing(trapped: Bench) -> None:
    found = trapped.says("search_files", pattern="secret|root|good")
    assert found.split("\n")[1:] == ["good.txt:1:good"]


def test_a_listing_names_links_and_does_not_follow_them(trapped: Bench) -> None:
    listing = trapped.says("list_files")
    assert "to-folder (link, not followed)" in listing
    assert "fifo (no regular file)" in listing
    assert "secret.txt" not in listing


def test_a_socket_and_a_device_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.workspace)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name in ("read_file", "write_file"):
            given = {"path": "socket"} | ({"content": "x"} if name == "write_file" else {})
            assert "socket" in bench.refuses(name, **given)


def test_a_folder_swapped_for_a_link_between_two_calls_leads_nowhere(bench: Bench, tmp_path: Path) -> None:
    bench.make("folder/file.txt", "inside")
    assert "inside" in bench.says("read_file", path="folder/file.txt")
    (bench.workspace / "folder").rename(bench.workspace / "old")
    (bench.workspace / "folder").symlink_to(tmp_path)
    (tmp_path / "file.txt").write_text(SECRET)
    assert SECRET not in bench.refuses("read_file", path="folder/file.txt")
    bench.refuses("write_file", path="folder/new.txt", content="x")
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", ".GIT/config", "sub/.git/hooks/x"])
def test_what_git_would_run_cannot_be_written(bench: Bench, path: str) -> None:
    bench.make(path, "before")
    assert "belongs to git" in bench.refuses("write_file", path=path, content="evil")
    assert "belongs to git" in bench.refuses("edit_file", path=path, old="before", new="evil")
    assert (bench.workspace / path).read_text() == "before"


def test_a_workspace_that_is_gone_is_told(bench: Bench) -> None:
    bench.workspace.rmdir()
    for name, given in {
        "read_file": {"path": "x"},
        "list_files": {},
        "search_files": {"pattern": "x"},
    }.items():
        assert "There is no" in bench.refuses(name, **given)


def _everything(folder: Path) -> dict[str, str]:
    """Every file below, with its content, and every link, with its target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = path.read_text()
        else:
            found[str(path)] = "folder or other"
    return found
