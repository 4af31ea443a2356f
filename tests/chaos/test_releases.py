"""A database of an earlier release, and a worker of an earlier release beside one of this (A14)."""

from __future__ import annotations

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from runs import tasks
from runs.engine.llm.rehearsal import scripts
from runs.models import Event, Run
from runs.store import triggers
from runs.store.verify import verify
from tests.conftest import wait_until
from tests.twins import GIVEN, Twins

from . import released
from .conftest import Report
from .house import ROOT, Scaled, size
from .test_broker import at_work, begin, unfinished

FIRST = "bed4b6a"
"""The commit of the first release."""

CLAIMS = "SELECT count(*) FROM runs_event WHERE kind = 'owner.claimed' AND data ->> 'worker' LIKE ?"


@pytest.mark.parametrize("name", released.names())
def test_the_migrations_of_a_release_never_change(name: str) -> None:
    """What they make is what its databases look like, and how its fixture is laid out again."""
    now = released.migrations()
    then = released.read(name).migrations
    assert then == {migration: now.get(migration) for migration in then}


@pytest.mark.parametrize("kind", ["postgres"] if GIVEN else ["sqlite", "postgres"])
@pytest.mark.parametrize("name", released.names())
def test_a_database_of_a_release_is_migrated_and_its_runs_go_on(
    name: str,
    kind: str,
    twins: Twins,
    tmp_path: Path,
    django_db_blocker: Any,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    report: Report,
) -> None:
    monkeypatch.setattr(tasks, "hint", lambda run_id: True)
    release = released.read(name)
    settings.AGENTDASH_HOME = tmp_path  # where workspaces lie that agentdash made itself
    with django_db_blocker.unblock(), twins.of(kind).empty():
        as_it_was(release, tmp_path / "workspaces")
        before = Event.objects.count()
        call_command("migrate", verbosity=0)
        problems = [*kept(release), *missing_triggers()]
        for run in Run.objects.all():
            walk(run)
            problems += went_on(run)
        figure = {"release": name, "database": kind, "runs": len(release.heads), "events": before}
        figure["events_since"] = Event.objects.count() - before
    report(f"A14-{kind}", figure, problems)


def as_it_was(release: released.Release, workspaces: Path) -> None:
    """Its tables, its rows, and the folders its runs work in."""
    call_command("migrate", "runs", max(release.migrations), verbosity=0)
    for app in ("auth", "contenttypes", "sessions", "admin"):
        call_command("migrate", app, verbosity=0)
    released.load(release, workspaces)
    for llm, workspace in Run.objects.values_list("llm", "workspace"):
        Path(workspace).mkdir(parents=True)
        scripts.get(llm.removeprefix("rehearsal/")).make_workspace(Path(workspace))


def kept(release: released.Release) -> list[str]:
    """Nothing of what was archived is another than it was."""
    heads = dict(Run.objects.values_list("slug", "head_hash"))
    wrong = [] if heads == release.heads else [f"the head hashes are {heads}, and were {release.heads}"]
    return wrong + [str(verdict) for run in Run.objects.all() if not (verdict := verify(run)).ok]


def missing_triggers() -> list[str]:
    wanted = {trigger.name for trigger in triggers.wanted(connection.vendor)}
    return [f"the trigger {name} is missing" for name in sorted(wanted - triggers.listed())]


def walk(run: Run) -> None:
    """To where the run needs somebody. One that its old owner left in the middle is taken up."""
    for _ in range(20):
        tasks.by_hand(run.pk)
        run.refresh_from_db()
        if run.state not in ("ready", "running"):
            return


def went_on(run: Run) -> list[str]:
    """It is done, whole, and its archive begins as it began."""
    wrong = [] if run.state == "done" else [f"{run.slug} is {run.state} ({run.reason})"]
    return wrong if (verdict := verify(run)).ok else [*wrong, str(verdict)]


def test_an_old_worker_and_a_new_one_finish_the_same_runs(
    scaled: Scaled, tmp_path: Path, report: Report
) -> None:
    """The old release makes the database; this one migrates it while a worker of the old one is at work."""
    turns, count = size(30, 120), size(4, 10)
    new, old = (
        dict(scaled.extra),
        {"PYTHONPATH": str(laid_out(FIRST, tmp_path / "old")), "PYTHONSAFEPATH": "1"},
    )
    scaled.extra |= old
    scaled.begin()
    workers = {"old": scaled.worker(8)}
    slugs = begin(scaled, turns, count)
    scaled.extra = {**new, "DATABASE_URL": scaled.database}
    scaled.migrate()
    workers["new"] = scaled.worker(8)
    scaled.extra |= old
    slugs += begin(scaled, turns, count)
    scaled.extra = {**new, "DATABASE_URL": scaled.database}
    wait_until(lambda: not at_work(scaled), 120 + 2 * turns * count, "the runs to end")
    claims = {name: scaled.one(CLAIMS, f"%:{worker.pid}:%") for name, worker in workers.items()}
    problems = [*unfinished(scaled, turns), *untrue(scaled, slugs)]
    problems += [f"the {name} worker had no run" for name, claimed in claims.items() if not claimed]
    report("A14-workers", {"old": FIRST, "runs": len(slugs), "turns": turns, "claims": claims}, problems)
    since = begin(scaled, turns, count)
    wait_until(lambda: not at_work(scaled), 120 + 2 * turns * count, "the new release's runs to end")
    problems = [*unfinished(scaled, turns), *untrue(scaled, since)]
    report("A14-begun-since", {"runs": count, "turns": turns, "ended_otherwise": len(problems)}, problems)


def untrue(house: Scaled, slugs: list[str]) -> list[str]:
    verdicts = (house.ask("verify", slug) for slug in slugs)
    return [str(verdict) for verdict in verdicts if not verdict["ok"]]


def laid_out(commit: str, folder: Path) -> Path:
    """The files of a commit. A checkout without its past has nothing to show here."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    if packed.returncode:
        pytest.skip(f"The history of this checkout does not reach back to {commit}: git fetch --unshallow")
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder
