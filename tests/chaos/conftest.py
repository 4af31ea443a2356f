from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .house import House, Scaled
from .servers import Postgres, Redis, missing

HERE = Path(__file__).parent
Report = Callable[[str, dict[str, Any], list[str]], None]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` breaks the product in one process; on Redis and Postgres `make chaos` does, which takes its time."""
    if os.environ.get("AGENTDASH_CHAOS"):
        return
    left = [item for item in items if _is_chaos_own(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def _is_chaos_own(item: pytest.Item) -> bool:
    shape = getattr(item, "callspec", None)
    scaled = shape is not None and shape.params.get("either") == "scaled"
    takes = scaled or "servers" in getattr(item, "fixturenames", ()) or item.path.name == "test_soak.py"
    return HERE in item.path.parents and takes


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A home that nobody serves yet. Whatever still runs at the end is killed."""
    made = House(_home(tmp_path))
    yield made
    made.close()


def _home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return home


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[Postgres, Redis]]:
    """A Postgres and a Redis for all checks of this session; each check has a database of its own."""
    if lacks := missing():
        assert not os.environ.get("CI"), f"Missing: {lacks}"
        pytest.skip(f"Missing: {lacks}. To run this: sudo apt install {lacks}")
    postgres, redis = Postgres(), Redis()
    postgres.begin()
    yield postgres, redis
    redis.stop()
    postgres.end()


@pytest.fixture
def scaled(tmp_path: Path, servers: tuple[Postgres, Redis]) -> Iterator[Scaled]:
    """Tables, Redis and Postgres, and no process yet. Leases are of two seconds."""
    postgres, redis = servers
    made = Scaled(_home(tmp_path), postgres=postgres, redis=redis)
    made.begin()
    yield made
    made.close()


@pytest.fixture(params=["embedded", "scaled"])
def either(request: pytest.FixtureRequest) -> House:
    """The same check on both shapes of the product."""
    made: House = request.getfixturevalue("house" if request.param == "embedded" else "scaled")
    return made


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """Prints the check's one line, keeps it where AGENTDASH_CHAOS_LOG says, then fails with what was wrong."""

    def told(check: str, figure: dict[str, Any], problems: list[str]) -> None:
        line = json.dumps({"id": check, "pass": not problems, "figure": figure})
        with capsys.disabled():
            print("\n" + line)  # noqa: T201
        if log := os.environ.get("AGENTDASH_CHAOS_LOG"):
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        assert not problems, "\n".join(problems)

    return told
