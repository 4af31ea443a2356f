"""Commands in a plain subprocess: for the rehearsal's own commands, where no sandbox works.

They come from our source and run in a workspace the rehearsal made. Empty environment, limits, a temporary
HOME, and nobody left alive; but no wall: it must never run what an llm wrote.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runs.engine.ports import Cancel, Execution

from .bwrap import environment
from .limits import Limits, limits_for
from .process import GRACE, Launch, execute

WARDEN = Path(__file__).with_name("warden.py")


class LetGo:
    """The warden kills everything below it when its standard input closes; "t" passes a SIGTERM on."""

    def ask(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(b"t")
            process.stdin.flush()

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        process.kill()


@dataclass(slots=True, kw_only=True)
class Plain:
    prefix: Path
    why: str = ""
    name: str = "plain"

    def available(self) -> str:
        return ""

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
        with tempfile.TemporaryDirectory(prefix="agentdash-home-", ignore_cleanup_errors=True) as home:
            limits = limits_for(os.geteuid(), timeout=timeout, own=False)
            argv = [sys.executable, "-I", "-S", str(WARDEN), json.dumps(_named(limits)), command]
            env = environment(self.prefix, home=home) | {"TMPDIR": home}
            launch = Launch(argv=argv, env=env, cwd=workspace, stop=LetGo(), held=True)
            return execute(launch, timeout=timeout, key=key, cancel=cancel, spool=spool)


def _named(limits: Limits) -> list[tuple[str, int]]:
    return [
        ("RLIMIT_NPROC", limits.processes),
        ("RLIMIT_NOFILE", limits.open_files),
        ("RLIMIT_CPU", limits.cpu),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", limits.file_size),
        ("RLIMIT_AS", limits.memory),
    ]
