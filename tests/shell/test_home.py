"""One process at a time drives the runs of a data folder; a second one learns which."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agentdash import home
from agentdash.secrets import folder, secret


def test_the_second_is_refused_and_told_who_is_there(tmp_path: Path) -> None:
    with home.take(tmp_path, "http://127.0.0.1:8765"):
        with pytest.raises(
            home.HomeTaken, match=f"process {os.getpid()} at http://127.0.0.1:8765"
        ) as refused:
            home.take(tmp_path, "http://127.0.0.1:9999")
        assert refused.value.holder == home.Holder(pid=os.getpid(), address="http://127.0.0.1:8765")
        assert home.holder(tmp_path) == refused.value.holder


def test_a_process_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    home.take(tmp_path, "http://127.0.0.1:8765").close()
    assert home.holder(tmp_path) is None
    home.take(tmp_path, "http://127.0.0.1:8766").close()


def test_looking_makes_no_lock(tmp_path: Path) -> None:
    assert home.holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_local_folder_is_no_network_file_system(tmp_path: Path) -> None:
    assert home.network_file_system(tmp_path) == ""


def test_home_and_secrets_are_for_their_owner_only(tmp_path: Path) -> None:
    made = folder(tmp_path / "home")
    first = secret(made, "secret")
    assert len(first) >= 50
    assert secret(made, "secret") == first
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert [(one.name, stat.S_IMODE(one.stat().st_mode)) for one in made.iterdir()] == [("secret", 0o600)]
