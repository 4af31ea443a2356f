"""What is: ls, show, window, events."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import Any

import click

from agentdash.cli import ground


@click.command("ls")
@ground.as_json
def ls(as_json: bool) -> int:
    """List all runs, the newest first."""
    ground.tables()
    from runs.models import Run
    from runs.present import fleet_json

    runs = list(Run.objects.order_by("-pk"))
    if as_json:
        ground.write([fleet_json.listed(run, ground.url(run)) for run in runs])
        return ground.DONE
    if not runs:
        click.echo('No run yet. Start one: agentdash run "GOAL" --wait, or agentdash demo', err=True)
        return ground.DONE
    _table([fleet_json.listed(run, "") for run in runs])
    return ground.DONE


def _table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("run", "state", "turns", "window", "cost", "title"):
        table.add_column(
            name, justify="right" if name in ("turns", "window", "cost") else "left", no_wrap=True
        )
    for row in rows:
        table.add_row(
            row["run"],
            row["state"],
            str(row["turns"]),
            share(row["window"]),
            f"${row['cost_usd']:.2f}",
            Text(row["title"], overflow="ellipsis"),
        )
    Console().print(table)


def share(window: dict[str, int]) -> str:
    """How full a window is, as a person reads it."""
    if not window["limit"]:
        return "unknown"
    return f"{100 * window['final'] / window['limit']:.0f} % of {window['limit'] / 1000:.0f}k"


@click.command()
@click.argument("slug", metavar="RUN")
@ground.as_json
def show(slug: str, as_json: bool) -> int:
    """Show one run: state, window, tokens, cost, orders that wait."""
    ground.tables()
    from runs.present import fleet_json

    run = ground.the_run(slug)
    found = fleet_json.shown(run, ground.url(run))
    if as_json:
        ground.write(found)
        return ground.DONE
    state = f"{found['state']} ({found['reason']})" if found["reason"] else found["state"]
    lines = {"state": state, "page": found["url"], "llm": found["llm"], "workspace": found["workspace"]}
    lines |= {"turns": found["turns"], "window": share(found["window"]), "cost": f"${found['cost_usd']:.2f}"}
    lines |= {
        "edits": f"{found['compactions']} compactions, {found['clearings']} clearings, {found['offloads']} offloads"
    }
    lines["orders"] = ", ".join(
        f"{order['kind']} ({order['reason'] or 'pending'})" for order in found["pending_orders"]
    )
    click.echo(f"{found['run']}  {found['title']}")
    for name, value in lines.items():
        if value != "":
            click.echo(f"  {name:<10}{value}")
    if found["asks"]:
        _show_asks(found["run"], found["asks"])
    return ground.DONE


def _show_asks(slug: str, asks: dict[str, Any]) -> None:
    """The call that waits, whole, and how it is answered."""
    from runs.present.text import visible

    click.echo(f"\n{asks['tool']} waits for you: {asks['why']}")
    for name, value in asks["input"].items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        click.echo(f"  {name}:\n" + textwrap.indent(visible(text), "    "))
    if asks["about"] == "unknown_outcome":
        click.echo(f"agentdash answer {slug} {asks['call']} done|again|leave")
        return
    click.echo(f"agentdash approve {slug} {asks['call']} --sha256 {asks['input_sha256']}")
    click.echo(f"agentdash deny {slug} {asks['call']} --reason TEXT")


@click.command()
@click.argument("slug", metavar="RUN")
@click.option("--turn", type=click.IntRange(1), help="As it was at this turn; else as it is.")
@click.option("--request", is_flag=True, help="The body of the request, byte for byte as it was sent.")
@ground.as_json
def window(slug: str, turn: int | None, request: bool, as_json: bool) -> int:
    """Show what the llm sees: the entries of a window, or with --request all of it."""
    ground.tables()
    run = ground.the_run(slug)
    if request:
        return _request(run, turn or run.turn_no)
    from runs.present import archive_window

    try:
        found = archive_window.window(run, turn)
    except LookupError as missing:
        raise ground.Refused(str(missing.args[0])) from None
    if as_json:
        ground.write(found)
        return ground.DONE
    about = "about " if found["estimated"] else ""
    click.echo(
        f"{found['run']}  turn {found['turn']}  {about}{found['tokens']:,} of {found['limit']:,} tokens"
    )
    for entry in found["entries"]:
        form = "" if entry["form"] == "full" else entry["form"]
        where = f"{entry['n']:>4}  turn {entry['turn']:<5}{entry['author']:<9}{entry['tokens']:>7,}"
        click.echo(f"  {where}  {form} {'pinned' if entry['pinned'] else ''}".rstrip())
    return ground.DONE


def _request(run: Any, turn: int) -> int:
    from runs.store import requests

    try:
        body = requests.body(run, turn)
    except LookupError:
        raise ground.Refused(f"Run {run.slug} has no turn {turn}: it stands at turn {run.turn_no}.") from None
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()
    return ground.DONE


@click.command()
@click.argument("slug", metavar="RUN")
@click.option(
    "--after", default=0, type=click.IntRange(0), metavar="SEQ", help="Only events after this number."
)
@ground.as_json
def events(slug: str, after: int, as_json: bool) -> int:
    """Print what happened, an event a line."""
    ground.tables()
    from runs.present.fleet_json import iso
    from runs.store import queries

    for event in queries.all_events(ground.the_run(slug), after):
        at = iso(event.at)
        if as_json:
            ground.write(
                {
                    "seq": event.seq,
                    "kind": event.kind,
                    "turn": event.turn,
                    "at": at,
                    "data": event.data,
                    "hash": event.hash,
                }
            )
        else:
            said = "  ".join(f"{key}={value}" for key, value in event.data.items())
            click.echo(f"{event.seq:>6}  {at}  turn {event.turn:<5} {event.kind:<20} {said}")
    return ground.DONE


COMMANDS = (ls, show, window, events)
