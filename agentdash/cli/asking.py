"""Questions about what was: search, verify."""

from __future__ import annotations

from typing import Any

import click

from agentdash.cli import ground


@click.command()
@click.argument("text")
@click.option("--run", "slug", metavar="RUN", help="In this run only.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@ground.as_json
def search(text: str, slug: str | None, limit: int, as_json: bool) -> int:
    """Find TEXT in everything an llm ever saw, and where each line is now."""
    ground.tables()
    from runs.store.search import find

    hits = find(text, run=ground.the_run(slug) if slug else None, limit=limit)
    for hit in hits:
        if as_json:
            ground.write(
                {
                    "run": hit.run.slug,
                    "turn": hit.turn,
                    "message": hit.message,
                    "state": str(hit.state),
                    "episode": hit.episode or None,
                    "snippet": hit.snippet,
                }
            )
        else:
            where = f"{hit.state} in episode {hit.episode}" if hit.episode else str(hit.state)
            click.echo(f"{hit.run.slug}  turn {hit.turn}  message {hit.message}  [{where}]")
            click.echo("    " + hit.snippet.strip().replace("\n", "\n    "))
    if not hits and not as_json:
        click.echo("Nothing found.", err=True)
    return ground.DONE if hits else ground.NOT_SO


@click.command()
@click.argument("slug", metavar="[RUN]", required=False)
@ground.as_json
def verify(slug: str | None, as_json: bool) -> int:
    """Check that archives are whole: bodies, the chain of events, every request rebuilt. Of RUN, or of all runs."""
    ground.tables()
    from runs.models import Run
    from runs.store.verify import verify as check

    verdicts = [check(run) for run in ([ground.the_run(slug)] if slug else Run.objects.order_by("pk"))]
    for verdict in verdicts:
        if as_json:
            ground.write(_verdict(verdict))
        elif verdict.first_bad:
            bad = verdict.first_bad
            click.echo(f"{verdict.run}  not whole: event {bad.seq}: {bad.why}")
        else:
            click.echo(f"{verdict.run}  whole, {verdict.events} events")
    return ground.DONE if all(verdict.ok for verdict in verdicts) else ground.NOT_SO


def _verdict(verdict: Any) -> dict[str, Any]:
    bad = verdict.first_bad
    first = {"seq": bad.seq, "why": bad.why} if bad else None
    return {"run": verdict.run, "ok": verdict.ok, "events": verdict.events, "first_bad": first}


COMMANDS = (search, verify)
