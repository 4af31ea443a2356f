from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .house import House

Report = Callable[[str, dict[str, Any], list[str]], None]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A home that nobody serves yet. Whatever still runs at the end is killed."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    made = House(home)
    yield made
    made.close()


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """Prints the check's one line, then fails with what was wrong."""

    def told(check: str, figure: dict[str, Any], problems: list[str]) -> None:
        with capsys.disabled():
            print("\n" + json.dumps({"id": check, "pass": not problems, "figure": figure}))  # noqa: T201
        assert not problems, "\n".join(problems)

    return told
