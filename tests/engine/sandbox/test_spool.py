"""The exec spool: an outcome outlives the worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runs.engine.ports import Execution
from runs.engine.spool import Spool
from tests.conftest import wait_until

from .conftest import Shell

KEY = "a" * 64


def ended(**changed: object) -> Execution:
    values: dict[str, Any] = {
        "exit_code": 3,
        "output": "ünï\n",
        "omitted": 0,
        "total": 6,
        "status": "done",
        "ms": 12,
    }
    return Execution(**(values | changed))


def test_the_outcome_is_what_was_finished(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "exec")
    spool.start(KEY)
    assert spool.started(KEY)
    assert spool.outcome(KEY) is None
    spool.finish(KEY, ended())
    assert spool.outcome(KEY) == ended()


def test_long_output_is_found_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    place = spool.start(KEY)
    place.write_bytes(b"whole")
    spool.finish(KEY, ended(omitted=5, spill=place))
    assert spool.outcome(KEY) == ended(omitted=5, spill=place)


def test_a_half_written_outcome_counts_as_none(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.start(KEY)
    (tmp_path / KEY / "exit.new").write_text('{"exit_code": 0, "outp')
    assert spool.outcome(KEY) is None


def test_nothing_is_known_of_a_call_that_never_started(tmp_path: Path) -> None:
    assert not Spool(tmp_path / "none").started(KEY)
    assert Spool(tmp_path / "none").outcome(KEY) is None
    assert Spool(tmp_path / "none").intended(KEY) == ""


@pytest.mark.parametrize("key", ["", "..", "a/b", "/etc", "a\0b", "a" * 200])
def test_a_key_cannot_lead_out_of_the_spool(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="cannot name a call"):
        Spool(tmp_path).start(key)


def test_a_sandbox_leaves_the_outcome_before_it_returns(shell: Shell) -> None:
    told = shell("echo out; exit 7", key=KEY)
    assert Spool(shell.spool).outcome(KEY) == told
    assert Spool(shell.spool).started(KEY)


WORKER_PROGRAM = """
import sys
from pathlib import Path
from runs.engine import sandbox
from runs.engine.ports import Cancel
chosen = sandbox.choose(rehearsal=True, python=Path(sys.executable), uid_slot=7)
if sys.argv[1] == "plain":
    chosen = sandbox.Plain(prefix=Path(sys.base_prefix))
command, workspace, key, spool = sys.argv[2:]
chosen.run(command, Path(workspace), timeout=60, key=key, cancel=Cancel(), spool=Path(spool))
"""


def test_a_worker_killed_while_a_command_runs_leaves_a_start_no_end_and_no_process(shell: Shell) -> None:
    command = f"touch begun; setsid sleep {shell.mark} & sleep {shell.mark}"
    argv = [shell.sandbox.name, command, str(shell.workspace), KEY, str(shell.spool)]
    worker = subprocess.Popen([sys.executable, "-c", WORKER_PROGRAM, *argv])
    try:
        wait_until((shell.workspace / "begun").exists, what="the command to start")
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    wait_until(lambda: not shell.survivors(), what="the command to die with its worker")
    assert Spool(shell.spool).started(KEY)
    assert Spool(shell.spool).outcome(KEY) is None


def test_the_spool_is_for_the_worker_only(tmp_path: Path) -> None:
    Spool(tmp_path).start(KEY)
    assert os.stat(tmp_path / KEY).st_mode & 0o077 == 0
