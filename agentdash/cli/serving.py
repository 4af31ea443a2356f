"""What stays: demo, serve, web, worker; and what they need: migrate, link."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Any

import click

from agentdash.cli import ground

PORT = click.IntRange(1, 65535)
FOREIGN = ("REDIS_URL", "DATABASE_URL", "AGENTDASH_PUBLIC_URL", "AGENTDASH_HOST", "AGENTDASH_LLM")


@click.command()
@click.option("--port", type=PORT, help="Where the pages are (8765).")
@click.option(
    "--pace", type=click.Choice(["human", "fast"]), default="human", help="How fast the rehearsal types."
)
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def demo(port: int | None, pace: str, no_open: bool) -> int:
    """Watch an agent at work, without a key and without cost; in ./.demo."""
    for name in [*FOREIGN, *(name for name in os.environ if name.startswith("ANTHROPIC_"))]:
        os.environ.pop(name, None)
    os.environ["AGENTDASH_HOME"] = str(Path(".demo").absolute())
    _at(port)
    ground.django()
    from agentdash import home

    if there := home.holder(_home()):
        ground.guarded("ready")
        click.echo(f"A demo runs already, as process {there.pid}. Open it: {_link(there.address, _newest())}")
        return ground.DONE
    return _serve(lambda: _rehearsal(pace), again="agentdash demo", show=not no_open)


def _rehearsal(pace: str) -> str:
    """The page to open: of the run that is not finished yet, else of a new one."""
    from django.urls import reverse

    from agentdash.door import local
    from runs import control
    from runs.engine.llm.rehearsal import scripts
    from runs.models import ENDED, Run

    run = Run.objects.exclude(state__in=ENDED).order_by("-pk").first()
    if run is None:
        goal = scripts.get("").goal
        run = control.start(local(), control.Start(goal=goal, llm="rehearsal", policy="demo", pace=pace))
    return reverse("run", args=[run.slug])


def _newest() -> str:
    """The page of the newest run, or of all when there is none yet."""
    from django.urls import reverse

    from runs.models import Run

    run = Run.objects.order_by("-pk").first()
    return reverse("run", args=[run.slug]) if run else "/"


@click.command()
@click.option("--port", type=PORT, help="Where the pages are (AGENTDASH_PORT, else 8765).")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def serve(port: int | None, no_open: bool) -> int:
    """Pages and worker in one process."""
    _at(port)
    ground.django()
    if not _environment().embedded:
        raise ground.Refused(
            "REDIS_URL is set: start agentdash web and agentdash worker, or unset it and DATABASE_URL."
        )
    return _serve(lambda: "/", again="agentdash serve", show=not no_open)


@click.command()
@click.option("--port", type=PORT, help="Where the pages are (AGENTDASH_PORT, else 8765).")
def web(port: int | None) -> int:
    """Pages only; the work is done by agentdash worker."""
    _at(port)
    ground.tables()
    if _environment().embedded:
        raise ground.Refused(
            "Pages of their own need REDIS_URL and DATABASE_URL: else no other process could tell them anything. "
            "agentdash serve is pages and worker in one."
        )
    _beyond_loopback()
    from agentdash.worker import pages

    sock = _bound()
    click.echo(f"Pages: {_link(_environment().address)}")
    pages(sock)
    return ground.DONE


@click.command()
@click.option("--concurrency", default=64, show_default=True, type=click.IntRange(1), help="Runs at a time.")
def worker(concurrency: int) -> int:
    """Work on runs, beside any number of others; needs REDIS_URL and DATABASE_URL."""
    ground.tables()
    if _environment().embedded:
        raise ground.Refused(
            "A worker of its own needs REDIS_URL and DATABASE_URL. "
            "Without them, agentdash serve is pages and worker in one."
        )
    from agentdash.worker import work

    work(concurrency)
    return ground.DONE


@click.command()
@click.option("--adopt", is_flag=True, help="Put our tables into a database that holds others.")
def migrate(adopt: bool) -> int:
    """Make or change the tables of the database. serve and demo do it by themselves."""
    ground.django()
    ground.guarded("migrate", adopt=adopt)
    click.echo("The database is up to date.")
    return ground.DONE


@click.command()
def link() -> int:
    """Print a fresh one-time address that lets a browser in."""
    ground.django()
    from agentdash import home

    there = home.holder(_home())
    click.echo(_link(there.address if there and there.address else _environment().address))
    if there is None and _environment().embedded:
        click.echo("No server runs on this home now. Start one: agentdash serve", err=True)
    return ground.DONE


def _serve(prepare: Any, *, again: str, show: bool) -> int:
    """Take the home, make the tables, print the address, and serve until Ctrl-C. `prepare` names the page to open."""
    from agentdash import embedded, home

    _beyond_loopback()
    sock = _bound()
    try:
        lock = home.take(_home(), _environment().address)
    except home.HomeTaken as taken:
        raise ground.Refused(str(taken)) from None
    if kind := home.network_file_system(_home()):
        raise ground.Refused(
            f"{_home()} lies on {kind}, where SQLite loses data. Set AGENTDASH_HOME to a local folder."
        )
    ground.guarded("migrate")
    page = prepare()
    click.echo(f"Open {_link(_environment().address, page)}")
    click.echo("The link works once; agentdash link prints another. Ctrl-C ends.")
    embedded.serve(sock, ready=lambda: _open(page) if show else None)
    click.echo(_farewell(again))
    lock.close()
    embedded.leave(ground.DONE)
    return ground.DONE


def _farewell(again: str) -> str:
    from runs.models import Run

    left = Run.objects.filter(state__in=("ready", "running")).count()
    if not left:
        return "\nStopped."
    goes = "1 run goes" if left == 1 else f"{left} runs go"
    return f"\nStopped. {goes} on where it stood, next time: {again}"


def _at(port: int | None) -> None:
    """Settings read the port from the environment, so that cookies and addresses carry it."""
    if port:
        os.environ["AGENTDASH_PORT"] = str(port)


def _environment() -> Any:
    from django.conf import settings

    return settings.AGENTDASH


def _home() -> Path:
    return Path(_environment().home)


def _beyond_loopback() -> None:
    from agentdash.env import LOOPBACK

    environment = _environment()
    if environment.host not in LOOPBACK and not environment.public_url:
        raise ground.Refused(
            f"AGENTDASH_HOST is {environment.host}, which others can reach. Set AGENTDASH_PUBLIC_URL to the address "
            "people use, or unset AGENTDASH_HOST."
        )


def _bound() -> Any:
    from agentdash.server import PortTaken, bound

    try:
        return bound(_environment().host, _environment().port)
    except PortTaken as taken:
        raise ground.Refused(str(taken)) from None


def _link(address: str, to: str = "/") -> str:
    from agentdash.door import link as fresh

    return fresh(_home(), address, to)


def _open(page: str) -> None:
    """Show the page where there is a screen; with a link of its own, so that the printed one stays good."""
    screen = (
        sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if screen and sys.stdout.isatty():
        address = _link(_environment().address, page)
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


COMMANDS = (demo, serve, web, worker, migrate, link)
