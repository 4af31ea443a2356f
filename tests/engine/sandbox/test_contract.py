"""What every sandbox does, whichever it is."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from runs.engine.ports import Cancel
from runs.engine.sandbox.output import CAP, HEAD, TAIL
from tests.conftest import wait_until

from .conftest import Shell


def test_a_command_prints_and_ends_with_its_exit_code(shell: Shell) -> None:
    ended = shell("echo one; echo two >&2; exit 3")
    assert (ended.status, ended.exit_code, ended.output) == ("done", 3, "one\ntwo\n")
    assert (ended.total, ended.omitted, ended.spill, ended.reason) == (8, 0, None, "")


def test_standard_input_is_empty(shell: Shell) -> None:
    assert shell("cat; read x; echo read $?").output == "read 1\n"


def test_any_character_passes_both_ways(shell: Shell) -> None:
    text = "naïve 漢字 🎉 'quoted' \"twice\" $HOME \\ tab\t"
    (shell.workspace / "said.txt").write_text(text)
    assert shell("cat said.txt; echo; echo 'ñ 漢 🎉'").output == f"{text}\nñ 漢 🎉\n"


def test_bytes_that_are_no_text_become_visible(shell: Shell) -> None:
    assert shell(r"printf 'a\xff\xfeb'").output == "a\ufffd\ufffdb"


def test_names_with_spaces_and_quotes_work(shell: Shell) -> None:
    ended = shell("mkdir 'a b' && echo hi > 'a b/it'\"'\"'s here' && cat a\\ b/*")
    assert ended.output == "hi\n"


def test_the_workspace_can_be_written_and_is_where_a_command_starts(shell: Shell) -> None:
    (shell.workspace / "given.txt").write_text("before\n")
    assert shell("cat given.txt && echo after > made.txt").exit_code == 0
    assert (shell.workspace / "made.txt").read_text() == "after\n"
    assert shell("cat made.txt").output == "after\n"


def test_the_environment_is_empty_but_for_what_a_command_needs(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-1234")
    monkeypatch.setenv("SECRET_THING", "sk-canary-5678")
    names = {line.split("=")[0] for line in shell("env").output.splitlines()}
    known = {
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "TMPDIR",
        "PYTHONDONTWRITEBYTECODE",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
    }
    assert names <= known
    seen = shell("env; cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n'; set").output
    assert "sk-canary" not in seen


def test_home_is_a_folder_of_its_own_that_can_be_written(shell: Shell) -> None:
    ended = shell('cd && pwd && echo x > note && cat note && test "$HOME" != ' + str(Path.home()))
    assert ended.exit_code == 0, ended.output
    assert ended.output.endswith("x\n")


def test_python3_is_the_interpreter_that_runs_agentdash(shell: Shell) -> None:
    asked = shell("python3 -c 'import sys; print(sys.version); print(sys.base_prefix)'")
    import sys

    assert asked.output == f"{sys.version}\n{sys.base_prefix}\n"


def test_long_output_shows_head_and_tail_and_is_kept_whole(shell: Shell) -> None:
    ended = shell("python3 -c \"print('first'); print('x' * 1_000_000); print('last')\"")
    assert ended.total == 1_000_012
    assert ended.omitted == ended.total - HEAD - TAIL
    assert ended.output.startswith("first\n")
    assert ended.output.endswith("xlast\n".replace("x", "x\n", 1))
    assert f"[… {ended.omitted:,} bytes omitted …]" in ended.output
    assert ended.spill is not None
    assert ended.spill.read_bytes() == b"first\n" + b"x" * 1_000_000 + b"\nlast\n"


def test_endless_output_is_cut_at_the_cap_and_the_command_killed(shell: Shell) -> None:
    ended = shell("yes", timeout=60)
    assert (ended.status, ended.total) == ("killed", CAP)
    assert "64 MiB" in ended.reason
    assert ended.spill is not None
    assert ended.spill.stat().st_size == CAP


def test_a_command_over_its_time_is_killed_with_all_it_started(shell: Shell) -> None:
    mark = shell.mark
    began = time.monotonic()
    ended = shell(
        f"echo begun; setsid sleep {mark} & nohup sleep {mark} & (setsid sleep {mark} &); sleep {mark}",
        timeout=1,
    )
    assert (ended.status, ended.output) == ("timeout", "begun\n")
    assert "longer than 1 s" in ended.reason
    assert time.monotonic() - began < 1 + 3
    assert not shell.survivors()


def test_a_command_that_ignores_the_request_to_end_is_killed_two_seconds_later(shell: Shell) -> None:
    ended = shell(f"trap '' TERM; echo deaf; while true; do sleep {shell.mark} || true; done", timeout=0.5)
    assert ended.status == "timeout"
    assert ended.ms < 6_000
    assert not shell.survivors()


def test_a_command_that_is_asked_to_end_may_tidy_up(shell: Shell) -> None:
    ended = shell(f"trap 'echo tidied; exit 5' TERM; sleep {shell.mark} & wait", timeout=0.5)
    assert (ended.status, ended.output) == ("timeout", "tidied\n")


def test_what_a_command_leaves_in_the_background_ends_with_it(shell: Shell) -> None:
    ended = shell(f"setsid sleep {shell.mark} & (nohup sleep {shell.mark} &) ; echo done")
    assert (ended.status, ended.exit_code, ended.output) == ("done", 0, "done\n")
    assert ended.ms < 10_000
    assert not shell.survivors()


def test_closing_its_output_does_not_end_a_command(shell: Shell) -> None:
    ended = shell(
        "exec >&- 2>&-; python3 -c 'import select; select.select([], [], [], 0.5)'; echo x > made; exit 4"
    )
    assert (ended.status, ended.exit_code) == ("done", 4)
    assert (shell.workspace / "made").exists()


def test_cancelling_kills_at_once(shell: Shell) -> None:
    cancel = Cancel()
    started = shell.workspace / "started"

    def stop() -> None:
        wait_until(started.exists, what="the command to start")
        cancel("stopped by Ada")

    stopper = threading.Thread(target=stop)
    stopper.start()
    ended = shell(
        f"trap '' TERM; touch started; setsid sleep {shell.mark} & sleep {shell.mark}", cancel=cancel
    )
    stopper.join()
    assert (ended.status, ended.reason) == ("killed", "stopped by Ada")
    assert ended.ms < 10_000
    assert not shell.survivors()


def test_a_run_that_was_cancelled_before_starts_nothing_lasting(shell: Shell) -> None:
    cancel = Cancel()
    cancel("stopped")
    ended = shell(f"sleep {shell.mark}", cancel=cancel)
    assert ended.status == "killed"
    assert not shell.survivors()


def test_a_program_that_is_not_there_is_the_shells_own_127(shell: Shell) -> None:
    ended = shell("no-such-program")
    assert ended.exit_code == 127
    assert "no-such-program" in ended.output


def test_a_program_killed_by_a_signal_is_128_and_more(shell: Shell) -> None:
    assert shell("kill -9 $$").exit_code == 137


def test_a_core_is_never_written_and_files_have_a_limit(shell: Shell) -> None:
    assert shell("ulimit -c; ulimit -n").output == "0\n512\n"
    big = shell("head -c 400000000 /dev/zero > big; ls -l big | cut -d' ' -f5", timeout=60)
    assert int(big.output.splitlines()[-1]) <= 256 * 1024**2


def test_memory_has_a_limit(shell: Shell) -> None:
    ended = shell("python3 -c 'x = bytearray(3 * 1024**3)'")
    assert ended.exit_code == 1
    assert "MemoryError" in ended.output


def test_nothing_of_it_stays_open(shell: Shell) -> None:
    shell("true")
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        shell("echo x; exit 1")
    assert len(os.listdir("/dev/fd")) == before
