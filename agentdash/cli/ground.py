"""What commands stand on: the environment, Django, the run that is meant, and how answers are written."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from agentdash import env

if TYPE_CHECKING:
    from runs.models import Run

DONE, NOT_SO, USAGE, WAITS = 0, 1, 2, 3


class Refused(click.ClickException):
    """A sentence with the cause and the cure; exit code 2."""

    exit_code = USAGE

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file, err=True)


as_json = click.option("--json", "as_json", is_flag=True, help="Answer in JSON; progress goes to stderr.")


def environment() -> env.Environment:
    """What the environment says now."""
    try:
        return env.read(os.environ)
    except env.EnvironmentMistake as mistake:
        raise Refused(str(mistake)) from None


def django() -> None:
    """Set Django up by the environment as it stands. Nothing of runs may be imported before."""
    environment()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdash.settings")
    import django
    from django.apps import apps

    try:
        if not apps.ready:  # twice would leave the first log file open
            django.setup()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Refused(
            f"{error.filename} cannot be used: {why}. Set AGENTDASH_HOME to another folder."
        ) from None
    importlib.import_module("agentdash.celery")  # else a hint would look for a broker that nobody set up


def tables() -> None:
    """Django, and a database with tables of this version."""
    django()
    guarded("ready")


def guarded(verb: str, **how: Any) -> None:
    """A verb of agentdash.database, whose refusals become sentences."""
    from agentdash import database

    act: Callable[..., None] = getattr(database, verb)
    try:
        act(**how)
    except (database.ForeignDatabase, database.Unreachable) as refusal:
        raise Refused(str(refusal)) from None


def the_run(slug: str) -> Run:
    """The run of that name, after `tables()`."""
    from runs.store import queries

    run = queries.run_by_slug(slug.lower())
    if run is None:
        raise Refused(f"There is no run {slug}. All runs: agentdash ls")
    return run


def address() -> str:
    """Where the pages are: of the process that drives this home, else where they would be."""
    from django.conf import settings

    from agentdash import home

    there = home.holder(settings.AGENTDASH_HOME)
    return there.address if there and there.address else str(settings.AGENTDASH.address)


def url(run: Run) -> str:
    from django.urls import reverse

    return address() + reverse("run", args=[run.slug])


def write(answer: Mapping[str, Any] | list[Any]) -> None:
    """One line of JSON."""
    click.echo(json.dumps(answer, ensure_ascii=False))
