"""Where commands run. One backend a file, one port (`runs.engine.ports.Sandbox`), one contract suite for all.

bwrap.py    bubblewrap: the wall                plain.py   a subprocess, for the rehearsal's own commands only
none.py     the shell is off, and says why      warden.py  the small program that watches over a plain command
process.py  one process to its end              output.py  head, tail and spill of what it prints
owner.py    who a command runs as               probe.py   asks a sandbox whether it holds
limits.py   rlimits                             quota.py   how much a workspace may hold
tree.py     the processes below a process       ask.py     a subprocess, each command allowed by a person
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runs.engine.ports import Sandbox

from .ask import Ask
from .bwrap import Bwrap
from .none import Off
from .owner import refusal
from .plain import Plain

__all__ = ["Ask", "Bwrap", "Off", "Plain", "choose", "refusal"]

_holds: dict[Path, bool] = {}
"""Interpreters for which bubblewrap was found to hold, and whether it needs the staging mounts. A failure is not
kept: who installs bubblewrap need not restart anything."""


def choose(
    *, rehearsal: bool, python: Path, uid_slot: int = 0, made: Sequence[Path] = (), unsandboxed: str = ""
) -> Sandbox:
    """The sandbox for a run's commands: bubblewrap where it holds, else none; with `unsandboxed="ask"` one in which
    a person allows each command.

    `python` is the interpreter that runs agentdash (or its base folder): `python3` inside is the same one.
    `made` are the folders below which agentdash makes workspaces: those it may give to the uid of its slot.
    Only a rehearsal, whose commands and workspace are ours, may fall back to a plain subprocess; `.why` then
    says why.
    """
    sandbox = Bwrap(prefix=_base(python), slot=uid_slot, owns=rehearsal, made=tuple(made))
    if sandbox.prefix in _holds:
        sandbox.why, sandbox.staged = "", _holds[sandbox.prefix]
    if why := sandbox.available():
        return _without(why, sandbox.prefix, rehearsal, unsandboxed)
    _holds[sandbox.prefix] = sandbox.staged
    return sandbox


def _without(why: str, prefix: Path, rehearsal: bool, unsandboxed: str) -> Sandbox:
    if rehearsal:
        return Plain(prefix=prefix, why=why)
    return Ask(prefix=prefix, why=why) if unsandboxed == Ask.NAME else Off(why=why)


def _base(python: Path) -> Path:
    """The folder that holds bin/python3: the base of a virtual environment, not the environment itself."""
    return python.resolve() if python.is_dir() else python.resolve().parent.parent
