"""Who a command runs as, and whose a workspace must be.

A root worker never runs commands as root. The owner of the workspace is who they run as: a person's workspace
stays the person's, one that agentdash made is given to the uid of the worker's slot (60000 + slot).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runs.engine.errors import NotRun

SLOT_BASE = 60_000
SLOTS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """The ids a command runs with. `drops`: the worker is root and must become them first."""

    uid: int
    gid: int
    drops: bool


def is_root() -> bool:
    return os.geteuid() == 0


def refusal(workspace: Path) -> str:
    """Why commands cannot work in this folder, with the cure, or ''. For a folder that agentdash did not
    make.
    """
    try:
        found = workspace.stat()
    except OSError as error:
        return f"The workspace {workspace} cannot be opened: {error.strerror}. Name a folder that exists."
    if not stat.S_ISDIR(found.st_mode):
        return f"The workspace {workspace} is a file. Name a folder."
    if found.st_uid == 0:
        return (
            f"The workspace {workspace} belongs to root, and commands never run as root. Give it to a user "
            f"(chown -R USER {workspace}), or leave the workspace out and let agentdash make one."
        )
    if not is_root() and not os.access(workspace, os.W_OK | os.X_OK):
        return f"The workspace {workspace} cannot be written by you. Run agentdash as its owner, or chown it."
    return ""


def tenant(workspace: Path, *, slot: int, made: bool) -> Tenant:
    """Who runs commands here; a workspace `made` by agentdash that root still owns is given away first.

    Raises NotRun with the sentence of `refusal`.
    """
    if is_root() and made and workspace.is_dir() and workspace.stat().st_uid == 0:
        give(workspace, SLOT_BASE + slot % SLOTS)
    if why := refusal(workspace):
        raise NotRun(why)
    if not is_root():
        return Tenant(uid=os.geteuid(), gid=os.getegid(), drops=False)
    found = workspace.stat()
    return Tenant(uid=found.st_uid, gid=found.st_gid or found.st_uid, drops=True)


def give(workspace: Path, uid: int) -> None:
    """chown -R, without following a link; the root of the tree last, for it says that the rest is done."""
    for _, folders, files, descriptor in os.fwalk(workspace, topdown=False, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(workspace, uid, uid)


def is_within(workspace: Path, folders: Sequence[Path]) -> bool:
    """True where the workspace lies strictly below one of the folders in which agentdash makes workspaces."""
    place = workspace.resolve()
    return any(folder.resolve() in place.parents for folder in folders)
