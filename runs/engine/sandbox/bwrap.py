"""Commands under bubblewrap: no network, no environment, no files but the workspace, no process left behind.

Each part of the command line closes a door that was found open; tests/engine/sandbox/test_wall.py tries them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runs.engine.ports import Cancel, Execution

from . import owner, probe, quota, tree
from .limits import Limits, limits_for
from .process import Launch, execute

STAGE = Path("/run/agentdash")
"""Where a root worker binds what the command's uid could not reach (a workspace below /root, mode 0700)."""

PROGRAM = "bwrap"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
PASSWD = b"nobody:x:65534:65534:nobody:/tmp/home:/bin/bash\n"
GROUP = b"nogroup:x:65534:\n"
PROTECTED = (".git/hooks", ".git/config")


class KillNamespace:
    """bwrap is the parent of its PID namespace's init: kill that, and the kernel kills everything inside."""

    def ask(self, process: subprocess.Popen[bytes]) -> None:
        tree.send(tree.descendants(process.pid), signal.SIGTERM)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            tree.send(tree.children(process.pid), signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            process.kill()


@dataclass(slots=True, kw_only=True)
class Bwrap:
    """`prefix`: the interpreter's base folder, bound read-only and put on PATH. `made`: folders in which
    agentdash makes workspaces; `owns` says that every workspace this sandbox sees was made by agentdash.
    """

    prefix: Path
    slot: int = 0
    owns: bool = False
    made: Sequence[Path] = ()
    staged: bool = field(default_factory=owner.is_root)
    name: str = "bwrap"
    why: str | None = None

    def available(self) -> str:
        if self.why is None:
            self.why = probe.trouble_of_bwrap(self)
        return self.why

    def run(
        self,
        command: str,
        workspace: Path,
        *,
        timeout: float,
        key: str,
        cancel: Cancel,
        spool: Path | None = None,
    ) -> Execution:
        """Raises NotRun where the workspace belongs to root and is not ours."""
        workspace = workspace.resolve()
        made = self.owns or owner.is_within(workspace, self.made)
        tenant = owner.tenant(workspace, slot=self.slot, made=made)
        own = tenant.drops and tenant.uid >= owner.SLOT_BASE
        limits = limits_for(tenant.uid, timeout=timeout, own=own)
        full = made and quota.is_over(workspace)
        with _identity_files() as fds:
            argv = [*self._outer(tenant, workspace, limits), *self._inner(workspace, fds)]
            argv += ["/bin/bash", "-c", *([quota.READ_ONLY] if full else []), command]
            launch = Launch(argv=argv, env={"PATH": probe.PROGRAMS}, stop=KillNamespace(), fds=fds)
            ended = execute(launch, timeout=timeout, key=key, cancel=cancel, spool=spool)
        return replace(ended, reason=ended.reason or quota.OVER) if full else ended

    def _outer(self, tenant: owner.Tenant, workspace: Path, limits: Limits) -> list[str]:
        """Everything before bwrap: reach, identity, limits, and an environment that is empty but for PATH."""
        argv = self._staging(workspace) if self.staged else []
        if tenant.drops:
            argv += ["setpriv", f"--reuid={tenant.uid}", f"--regid={tenant.gid}"]
            argv += ["--clear-groups", "--no-new-privs"]
        return [*argv, *limits.prlimit(), "env", "-i", "PATH=/usr/bin:/bin"]

    def _staging(self, workspace: Path) -> list[str]:
        """A mount namespace in which workspace and interpreter stand where any uid may go."""
        pairs = [(workspace, STAGE / "workspace")]
        if self._brings_python():
            pairs.append((self.prefix, STAGE / "python"))
        for _, place in pairs:
            place.mkdir(parents=True, exist_ok=True)
        binds = [str(path) for pair in pairs for path in pair]
        script = (
            'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'
        )
        return ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", *binds, "--"]

    def _inner(self, workspace: Path, fds: Sequence[int]) -> list[str]:
        source = STAGE / "workspace" if self.staged else workspace
        argv = [
            PROGRAM,
            "--unshare-all",
            "--unshare-user",
            "--disable-userns",
            "--uid",
            "65534",
            "--gid",
            "65534",
        ]
        argv += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        argv += [
            "--ro-bind",
            "/usr",
            "/usr",
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/sbin",
            "/sbin",
        ]
        argv += ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"]
        for path in ("/etc/alternatives", "/etc/ssl/certs", "/etc/ld.so.cache"):
            argv += ["--ro-bind-try", path, path]
        argv += ["--ro-bind-data", str(fds[0]), "/etc/passwd", "--ro-bind-data", str(fds[1]), "/etc/group"]
        argv += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--size",
            "268435456",
            "--tmpfs",
            "/tmp",
            "--dir",
            "/tmp/home",
        ]
        if self._brings_python():
            argv += ["--ro-bind", str(STAGE / "python" if self.staged else self.prefix), str(self.prefix)]
        argv += [
            "--bind",
            str(source),
            "/workspace",
            *_protections(workspace, source),
            "--chdir",
            "/workspace",
        ]
        for name, value in self._environment().items():
            argv += ["--setenv", name, value]
        return [*argv, "--"]

    def _brings_python(self) -> bool:
        """False where the interpreter lies below /usr, which is bound anyway."""
        return Path("/usr") not in (self.prefix, *self.prefix.parents)

    def _environment(self) -> dict[str, str]:
        return environment(self.prefix, home="/tmp/home")


def environment(prefix: Path, *, home: str) -> dict[str, str]:
    """All that a command is told. No byte code: a source edited twice within a second would run as its old
    self.
    """
    return {
        "PATH": f"{prefix}/bin:{SYSTEM_PATH}",
        "HOME": home,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _protections(workspace: Path, source: Path) -> list[str]:
    """git runs hooks, and programs its settings name, for whoever calls it next: the agent must not write
    them.
    """
    argv: list[str] = []
    for name in PROTECTED:
        place = workspace / name
        if place.exists() and not place.is_symlink() and not place.parent.is_symlink():
            argv += ["--ro-bind", str(source / name), f"/workspace/{name}"]
    return argv


@contextlib.contextmanager
def _identity_files() -> Iterator[list[int]]:
    """Pipes that hold a one-line passwd and group, for --ro-bind-data."""
    fds: list[int] = []
    try:
        for data in (PASSWD, GROUP):
            reading, writing = os.pipe()
            fds.append(reading)
            os.write(writing, data)
            os.close(writing)
        yield fds
    finally:
        for descriptor in fds:
            os.close(descriptor)
