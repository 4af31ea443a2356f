"""`agentdash run "GOAL"`: handed to the process that drives this home, or driven here to the end."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import click

from agentdash.cli import ground

if TYPE_CHECKING:
    from runs.models import Run

LOOK_SECONDS = 0.2
KEYS = (
    "run",
    "url",
    "state",
    "reason",
    "turns",
    "compactions",
    "clearings",
    "offloads",
    "tokens",
    "cost_usd",
)
CODES = {"done": ground.DONE, "failed": ground.NOT_SO, "stopped": ground.NOT_SO, "paused": ground.WAITS}
NEEDS_NOBODY = ("children",)


@click.command()
@click.argument("goal")
@click.option("--llm", default="", metavar="LLM", help="The language model, or rehearsal (AGENTDASH_LLM).")
@click.option("--workspace", default="", metavar="DIR", help="The folder it works in; by default a new one.")
@click.option(
    "--policy", default="default", metavar="NAME|FILE.toml", help="The numbers that govern its window."
)
@click.option(
    "--limit", default=0, metavar="TOKENS", type=click.IntRange(0), help="Tokens a request may have."
)
@click.option(
    "--max-turns", default=0, metavar="N", type=click.IntRange(0), help="Hold it after so many turns."
)
@click.option(
    "--max-usd", metavar="X", type=click.FloatRange(0), help="Hold it at this cost; 0: no such valve."
)
@click.option(
    "--pace", default="human", type=click.Choice(["human", "fast"]), help="How fast a rehearsal types."
)
@click.option("--wait", is_flag=True, help="Stay until it ends or needs a person.")
@ground.as_json
def run(wait: bool, as_json: bool, **asked: Any) -> int:
    """Start a run on GOAL.

    With agentdash serve running, it works there. Without, --wait works here, with pages on a free port.
    """
    sock = None
    if ground.environment().embedded and not _driven():
        if not wait:
            raise ground.Refused("Nothing runs that could work on it: start agentdash serve, or add --wait.")
        sock = _free_port()
    ground.django()
    if sock is None:
        ground.guarded("ready")
        return _handed_over(asked, wait, as_json)
    return _driven_here(sock, asked, as_json)


def _driven() -> bool:
    from agentdash import home

    folder = ground.environment().home
    return folder.is_dir() and home.holder(folder) is not None


def _free_port() -> Any:
    """A socket on a free port; settings learn of it by the environment, so it comes before Django."""
    from agentdash.server import bound

    sock = bound("127.0.0.1", 0)
    os.environ["AGENTDASH_PORT"] = str(sock.getsockname()[1])
    os.environ.pop("AGENTDASH_HOST", None)
    return sock


def _started(asked: dict[str, Any]) -> Run:
    from agentdash.door import local
    from runs import control

    try:
        return control.start(local(), control.Start(**asked))
    except control.Invalid as mistake:
        raise ground.Refused(str(mistake)) from None


def _handed_over(asked: dict[str, Any], wait: bool, as_json: bool) -> int:
    from runs.present import fleet_json

    made = _started(asked)
    if wait:
        click.echo(f"{made.slug}  {ground.url(made)}", err=True)
        return _told(_followed(made), as_json)
    if as_json:
        ground.write(fleet_json.started(made, ground.url(made)))
    else:
        click.echo(f"{made.slug}  {ground.url(made)}")
    return ground.DONE


def _driven_here(sock: Any, asked: dict[str, Any], as_json: bool) -> int:
    from django.conf import settings
    from django.urls import reverse

    from agentdash import door, embedded, home

    try:
        lock = home.take(settings.AGENTDASH_HOME, settings.AGENTDASH.address)
    except home.HomeTaken as taken:
        raise ground.Refused(str(taken)) from None
    with lock:
        ground.guarded("migrate")
        made = _started(asked)
        page = reverse("run", args=[made.slug])
        click.echo(
            f"{made.slug}  {door.link(settings.AGENTDASH_HOME, settings.AGENTDASH.address, page)}", err=True
        )
        code = ground.NOT_SO
        with embedded.running(sock, seconds=1.0):
            try:
                code = _told(_followed(made), as_json)
            except KeyboardInterrupt:
                click.echo(
                    f"\nStopped. {made.slug} goes on where it stood, next time: agentdash serve", err=True
                )
                code = 130
        embedded.leave(code)
    return code


def _followed(run: Run) -> Run:
    """The run once it has ended or needs a person; progress goes to stderr on the way."""
    pause, seen = threading.Event(), 0
    while True:
        run.refresh_from_db()
        seen = _progress(run, seen)
        if _settled(run):
            return run
        pause.wait(LOOK_SECONDS)


def _settled(run: Run) -> bool:
    if run.state == "waiting":
        return run.reason.partition(":")[0] not in NEEDS_NOBODY
    return run.state in CODES


def _progress(run: Run, seen: int) -> int:
    """A line for each turn, edit and change of state after event `seen`. Returns the last one seen."""
    from runs.store import queries

    for event in queries.all_events(run, seen):
        seen = event.seq
        if line := _line(event.kind, event.turn, event.data):
            click.echo(line, err=True)
    return seen


def _line(kind: str, turn: int, data: dict[str, Any]) -> str:
    match kind:
        case "turn.closed":
            share = f"{data['window'] / data['limit']:.0%}" if data["limit"] else "unknown"
            return f"turn {turn}: window {data['window']:,} of {data['limit']:,} tokens ({share})"
        case "window.edited":
            return f"  {data['kind'].replace('_', ' ')}: {data['tokens_before']:,} to {data['tokens_after']:,} tokens"
        case "compaction.failed" | "turn.lost":
            return f"  {kind.replace('.', ' ')}: {data.get('why') or data.get('reason')}"
        case "llm.retry":
            return f"  llm answered {data['status'] or 'nothing'}, trying again in {data['wait_ms'] / 1000:.0f} s"
        case "run.state" if data["to"] != "running":
            return f"{data['to']}" + (f": {data['reason']}" if data["reason"] else "")
    return ""


def _told(run: Run, as_json: bool) -> int:
    from runs.present import fleet_json

    found = fleet_json.listed(run, ground.url(run))
    if as_json:
        ground.write({key: found[key] for key in (*KEYS, "window", "seconds")})
    else:
        edits = f"{found['compactions']} compactions, {found['clearings']} clearings"
        click.echo(f"{run.slug} {run.state}: {found['turns']} turns, {edits}, ${found['cost_usd']:.2f}")
    return CODES.get(run.state, ground.WAITS)


COMMANDS = (run,)
