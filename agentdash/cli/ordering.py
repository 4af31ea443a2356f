"""Orders: what a person asks of a run. Each waits for its one answer, at most ten seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from agentdash.cli import ground

SECONDS = 10.0


def _answering(verb: Callable[..., int]) -> Callable[..., int]:
    return click.option("--no-wait", is_flag=True, help="Do not wait for the answer.")(ground.as_json(verb))


def of_a_run(verb: Callable[..., int]) -> Callable[..., int]:
    """What all orders share: the run, JSON, whether to wait for the answer."""
    return click.argument("slug", metavar="RUN")(_answering(verb))


def give(slug: str, kind: str, args: dict[str, Any], as_json: bool, no_wait: bool) -> int:
    """Give the order, wait, say what became of it. 1 when it was rejected."""
    ground.tables()
    from agentdash.door import local
    from runs import control
    from runs.present.fleet_json import ordered

    run = ground.the_run(slug)
    try:
        made = control.order(local(), run, kind, args)
        if not no_wait and made.state == "pending":
            made = control.wait_for(made, SECONDS)
    except control.Invalid as mistake:
        raise ground.Refused(str(mistake)) from None
    if as_json:
        ground.write(ordered(made))
    else:
        click.echo(f"{kind.replace('_', ' ')}: {made.state}" + (f" ({made.reason})" if made.reason else ""))
    return ground.NOT_SO if made.state in ("rejected", "expired") else ground.DONE


@click.command()
@of_a_run
def pause(slug: str, as_json: bool, no_wait: bool) -> int:
    """Hold a run after its turn."""
    return give(slug, "pause", {}, as_json, no_wait)


@click.command()
@of_a_run
def resume(slug: str, as_json: bool, no_wait: bool) -> int:
    """Let a run go on; on one that failed, try again."""
    return give(slug, "resume", {}, as_json, no_wait)


@click.command()
@of_a_run
@click.argument("n", metavar="[N]", default=1, type=int)
def step(slug: str, n: int, as_json: bool, no_wait: bool) -> int:
    """Let a paused run take N turns (1), and pause again."""
    return give(slug, "step", {"n": n}, as_json, no_wait)


@click.command()
@of_a_run
@click.option("--now", is_flag=True, help="Cancel the call that is running.")
def stop(slug: str, now: bool, as_json: bool, no_wait: bool) -> int:
    """End a run after its turn."""
    return give(slug, "stop_now" if now else "stop", {}, as_json, no_wait)


@click.command()
@of_a_run
@click.argument("text")
@click.option("--queue", "how", flag_value="queue", help="Read it when the run would stop by itself.")
@click.option(
    "--interrupt", "how", flag_value="interrupt", help="Read it at once, cancel the call that is running."
)
def say(slug: str, text: str, how: str | None, as_json: bool, no_wait: bool) -> int:
    """Write TEXT to the agent; it is read before its next turn."""
    return give(slug, "say", {"text": text, "how": how or "steer"}, as_json, no_wait)


@click.command()
@of_a_run
@click.option(
    "--method", type=click.Choice(["clear", "summary", "both"]), help="How; the policy's way by default."
)
@click.option(
    "--keep", type=int, metavar="MESSAGES", help="How many of the newest messages stay as they are."
)
@click.option("--instructions", metavar="TEXT", help="What the summary must keep.")
def compact(
    slug: str, method: str | None, keep: int | None, instructions: str | None, as_json: bool, no_wait: bool
) -> int:
    """Replace the older part of a run's window by a summary."""
    given = {"method": method, "keep": keep, "instructions": instructions}
    return give(
        slug, "compact", {key: value for key, value in given.items() if value is not None}, as_json, no_wait
    )


@click.command()
@of_a_run
def clear(slug: str, as_json: bool, no_wait: bool) -> int:
    """Restart a run's window with the goal, what was said, the pins and the notes, and nothing else."""
    return give(slug, "clear", {}, as_json, no_wait)


def on_a_call(verb: Callable[..., int]) -> Callable[..., int]:
    """A word on a call: RUN, and the CALL that `show` names."""
    return click.argument("slug", metavar="RUN")(click.argument("call", metavar="CALL")(_answering(verb)))


SHA = click.option(
    "--sha256", "sha", required=True, metavar="HASH", help="Of the input you were shown: `show` names it."
)


@click.command()
@on_a_call
@SHA
@click.option("--always", is_flag=True, help="This tool asks no more in this run.")
def approve(slug: str, call: str, sha: str, always: bool, as_json: bool, no_wait: bool) -> int:
    """Allow the CALL that waits. What was shown is what runs: with another hash nothing does."""
    given = {"call": call, "input_sha256": sha} | ({"always": True} if always else {})
    return give(slug, "approve", given, as_json, no_wait)


@click.command()
@on_a_call
@click.option("--reason", default="", metavar="TEXT", help="The agent reads it.")
def deny(slug: str, call: str, reason: str, as_json: bool, no_wait: bool) -> int:
    """Refuse the CALL that waits."""
    return give(slug, "deny", {"call": call} | ({"reason": reason} if reason else {}), as_json, no_wait)


@click.command("edit-call")
@on_a_call
@click.argument("text", metavar="INPUT")
@SHA
def edit_call(slug: str, call: str, text: str, sha: str, as_json: bool, no_wait: bool) -> int:
    """Let the CALL that waits run with another INPUT: a JSON object, or - to read it from standard input."""
    text = sys.stdin.read() if text == "-" else text
    return give(slug, "edit", {"call": call, "input_sha256": sha, "input": text}, as_json, no_wait)


@click.command()
@on_a_call
@click.argument("outcome", type=click.Choice(["done", "again", "leave"]))
def answer(slug: str, call: str, outcome: str, as_json: bool, no_wait: bool) -> int:
    """Say what became of a CALL whose outcome is unknown: it is done, run it again, or leave it to the agent."""
    return give(slug, "answer", {"call": call, "outcome": outcome}, as_json, no_wait)


COMMANDS = (approve, deny, edit_call, answer, pause, resume, step, stop, say, compact, clear)
