"""Asks a sandbox, at start, whether it holds: it runs, it has no network, no environment of ours, no uid of
ours.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runs.engine.ports import Cancel, Execution, Sandbox

from . import owner

if TYPE_CHECKING:
    from .bwrap import Bwrap

PATIENCE = 20.0
PROGRAMS = "/usr/sbin:/usr/bin:/sbin:/bin"
NEEDED = ("bwrap", "prlimit")
QUESTIONS = """
echo uid=$(id -u)
echo nics=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ,)
echo env=$(tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | tr '\\n' ,)
touch probe && echo write=yes
cat /etc/shadow >/dev/null 2>&1 || echo shadow=no
"""
EXPECTED = {"uid": "65534", "nics": "lo,", "env": "PATH,", "write": "yes", "shadow": "no"}
MEANS = {
    "uid": "runs as another user than nobody",
    "nics": "has a network",
    "env": "shows the environment of agentdash",
    "write": "cannot write in the workspace",
    "shadow": "reads the system's passwords",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A line of `agentdash doctor`. `cure` is '' where all is well."""

    check: str
    ok: bool
    cure: str


def findings(sandbox: Sandbox) -> tuple[Finding, ...]:
    """What doctor says of the shell. A plain or absent sandbox is never ok: it says what would make it so."""
    why = sandbox.available() or getattr(sandbox, "why", "") or ""
    return (Finding(check="sandbox", ok=sandbox.name == "bwrap" and not why, cure=why),)


def missing() -> list[str]:
    """The programs this backend needs and does not find."""
    needed = (*NEEDED, "setpriv", "unshare") if owner.is_root() else NEEDED
    return [name for name in needed if shutil.which(name, path=PROGRAMS) is None]


def trouble_of_bwrap(sandbox: Bwrap) -> str:
    """Why bubblewrap cannot be used here, with the cure, or ''. Tries without the staging mounts if those
    fail.
    """
    if not sys.platform.startswith("linux"):
        return (
            "The shell tool is off: its sandbox needs Linux (bubblewrap). Run agentdash on Linux to use it."
        )
    if absent := missing():
        return (
            f"The shell tool is off: {' and '.join(absent)} not found. "
            "Install them: apt-get install bubblewrap util-linux (or your system's packages of those names)."
        )
    why = _trouble(sandbox)
    if why and sandbox.staged:
        sandbox.staged = False
        why = _trouble(sandbox)
    return why


def _trouble(sandbox: Bwrap) -> str:
    owns, sandbox.owns = sandbox.owns, True
    try:
        with tempfile.TemporaryDirectory(prefix="agentdash-probe-", ignore_cleanup_errors=True) as folder:
            execution = sandbox.run(QUESTIONS, Path(folder), timeout=PATIENCE, key="probe", cancel=Cancel())
    except OSError as error:
        return f"The shell tool is off: bubblewrap does not start ({error.strerror})."
    finally:
        sandbox.owns = owns
    return _judged(execution)


def _judged(execution: Execution) -> str:
    answers = dict(line.split("=", 1) for line in execution.output.splitlines() if "=" in line)
    if "uid" not in answers:
        said = execution.output.strip().splitlines() or [f"exit code {execution.exit_code}"]
        return f"The shell tool is off: bubblewrap makes no sandbox here ({said[0][:200]}). {_cure(said[0])}"
    for name, expected in EXPECTED.items():
        if answers.get(name, "") != expected:
            return f"The shell tool is off: the sandbox does not hold, it {MEANS[name]}. Please report this."
    return ""


def _cure(said: str) -> str:
    if "disable-userns" in said or "nknown option" in said:
        return "It needs bubblewrap 0.8 or newer."
    return (
        "It needs user namespaces: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu also "
        "kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows them."
    )
