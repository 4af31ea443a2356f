"""How much a workspace may hold."""

from __future__ import annotations

import os
from pathlib import Path

from runs.engine.sandbox.quota import is_over


def test_what_is_in_it_counts_not_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_bytes(os.urandom(100_000))
    (tmp_path / "link").symlink_to("/usr")
    assert is_over(tmp_path, most=90_000)
    assert not is_over(tmp_path, most=1_000_000)


def test_a_file_full_of_holes_takes_no_room(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(10**12)
    assert not is_over(tmp_path, most=1_000_000)


def test_so_does_the_number_of_entries(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).touch()
    assert is_over(tmp_path, entries=19)
    assert not is_over(tmp_path, entries=20)
