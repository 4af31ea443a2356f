"""What every story stands on: a house that lives, the wire to the llm, and the promises that hold after each story.

The cast: Ada owns the run, Blas watches in a browser of his own, Zoe has no link and must see nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from runs.engine.llm.rehearsal.transport import InProcess
from runs.models import Edit, Run
from runs.present import diff_page
from runs.runner.watch import watch
from runs.store.verify import verify
from tests.conftest import wait_until
from tests.living import LiveHouse
from tests.twins import USUAL, Twins

from .telling import begin, until
from .wire import Wire


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stories that share the finished run come one after the other."""
    items.sort(key=lambda item: "finished" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def proven() -> set[str]:
    """Heads of archives that were checked already: a run that nobody touched need not be checked twice."""
    return set()


@pytest.fixture(autouse=True)
def promises(db: None, proven: set[str]) -> Iterator[None]:
    """After every story: each request can be rebuilt to the byte, and every edit adds up.

    What the content security policy refused is heard by `live_house`, which fails at its end.
    """
    yield
    nobody_watches()
    for run in Run.objects.all():
        if run.head_hash not in proven:
            keep_promises(run)
            proven.add(run.head_hash)


def nobody_watches() -> None:
    """The thread that hears what cannot wait has left; else it would go on looking into this story's database."""

    def left() -> bool:
        watch._wake.set()
        return watch._thread is None

    wait_until(left, what="the watcher to leave")


def keep_promises(run: Run) -> None:
    verdict = verify(run)
    assert verdict.ok, f"{run.slug}: {verdict.first_bad}"
    for edit in Edit.objects.filter(run=run, state="applied"):
        compared = diff_page.page(run, edit).comparison
        assert compared is not None, f"edit {edit.number} shows no maps"
        sums = compared.sums()
        assert sum(one.before for one in sums) == edit.tokens_before, f"the map before edit {edit.number}"
        assert sum(one.after for one in sums) == edit.tokens_after, f"the map after edit {edit.number}"
        assert sum(one.entries for one in sums) == len({row.key for row in compared.rows}), (
            "an entry in two classes"
        )


@pytest.fixture
def house(live_house: LiveHouse) -> LiveHouse:
    """Server, worker and browser, in this process."""
    return live_house


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Listens between the llm's client and the stand-in, and can hold an answer in the middle."""
    with listening() as made:
        yield made


@contextmanager
def listening() -> Iterator[Wire]:
    made = Wire()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InProcess, "handle_async_request", made.around(InProcess.handle_async_request))
        yield made
        made.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The demo's whole work, done once: its database, and the body of each turn as the stand-in received it."""

    database: str
    bodies: Mapping[int, bytes]


@pytest.fixture(scope="session")
def told(twins: Twins, django_db_blocker: Any) -> Told:
    from agentdash.embedded import running

    with django_db_blocker.unblock(), (twin := twins.of(USUAL)).copy() as name:
        with listening() as wire, running():
            run = until(begin("rehearsal", policy="demo"), "done", seconds=240)
        nobody_watches()
        return Told(database=twin.keep(name), bodies=wire.turns(run.slug))


@pytest.fixture
def source(request: pytest.FixtureRequest) -> str:
    """Stories of a finished run begin where the demo's work has ended."""
    told: Told | None = request.getfixturevalue("told") if "finished" in request.fixturenames else None
    return told.database if told else ""


@pytest.fixture
def finished(db: None) -> Run:
    """The demo's run after its end, in a copy of its own."""
    return Run.objects.get()
