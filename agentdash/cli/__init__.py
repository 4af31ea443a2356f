"""The command line: `agentdash COMMAND`. A command parses, calls one verb, answers; JSON shapes are a contract.

Exit codes: 0 done; 1 failed, stopped, or the thing asked about is not so; 2 usage; 3 waits for a person;
130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version

import click

from agentdash.cli import asking, kit, ordering, reading, running, serving

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("agentdash-cockpit"), prog_name="agentdash")
def cli() -> None:
    """The flight recorder and the cockpit of long-running agents.

    Begin with: agentdash demo
    """


for module in (serving, running, reading, asking, ordering, kit):
    for command in module.COMMANDS:
        cli.add_command(command)


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    sys.exit(answer(args))


def answer(args: Sequence[str] | None = None) -> int:
    """Run a command in this process. Returns its exit code."""
    try:
        code = cli.main(
            args=list(args) if args is not None else None, prog_name="agentdash", standalone_mode=False
        )
    except click.ClickException as mistake:
        mistake.show()
        return mistake.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return INTERRUPTED
    return int(code or 0)
