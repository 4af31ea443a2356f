"""Which sandbox a run gets: the wall, or none; only a rehearsal may do without."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.engine import sandbox
from runs.engine.ports import Cancel
from runs.engine.sandbox import bwrap, probe

from .test_spool import ended

PYTHON = Path(sys.executable)


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_holds", {})


@pytest.fixture
def without_bwrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "missing", lambda: ["bwrap"])


@pytest.fixture
def failing_bwrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A bwrap that starts and says what it says where user namespaces are off."""
    monkeypatch.setattr(probe, "missing", list)
    with tempfile.TemporaryDirectory() as folder:
        fake = Path(folder, "bwrap")
        fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
        fake.chmod(0o755)
        fake.parent.chmod(0o755)
        monkeypatch.setattr(bwrap, "PROGRAM", str(fake))
        yield


def test_a_sandbox_that_holds_is_asked_once_one_that_does_not_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    answers = iter(["The shell tool is off.", "The shell tool is off.", "", "never asked for"])

    def trouble(chosen: object) -> str:
        asked.append("once more")
        return next(answers)

    monkeypatch.setattr(probe, "trouble_of_bwrap", trouble)
    names = [sandbox.choose(rehearsal=False, python=PYTHON, uid_slot=slot).name for slot in range(5)]
    assert names == ["none", "none", "bwrap", "bwrap", "bwrap"]
    assert len(asked) == 3


def test_without_bwrap_the_shell_is_off_and_says_how_to_get_it(without_bwrap: None, tmp_path: Path) -> None:
    chosen = sandbox.choose(rehearsal=False, python=PYTHON)
    assert chosen.name == "none"
    assert "bwrap not found" in chosen.available()
    assert "apt-get install bubblewrap" in chosen.available()
    ended = chosen.run("touch evil", tmp_path, timeout=5, key="k", cancel=Cancel())
    assert (ended.exit_code, ended.output) == (126, chosen.available())
    assert not (tmp_path / "evil").exists()


def test_without_bwrap_a_rehearsal_runs_its_own_commands_plainly_and_says_so(without_bwrap: None) -> None:
    chosen = sandbox.choose(rehearsal=True, python=PYTHON)
    assert isinstance(chosen, sandbox.Plain)
    assert chosen.available() == ""
    assert "bwrap not found" in chosen.why


def test_a_bwrap_that_cannot_make_namespaces_turns_the_shell_off(failing_bwrap: None) -> None:
    chosen = sandbox.choose(rehearsal=False, python=PYTHON)
    assert chosen.name == "none"
    assert "No permissions to create new namespace" in chosen.available()
    assert "kernel.unprivileged_userns_clone=1" in chosen.available()


def test_elsewhere_than_on_linux_the_shell_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe.sys, "platform", "darwin")
    assert "needs Linux" in sandbox.choose(rehearsal=False, python=PYTHON).available()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("uid=0\nnics=lo,\nenv=PATH,\nwrite=yes\nshadow=no\n", "another user than nobody"),
        ("uid=65534\nnics=lo,eth0,\nenv=PATH,\nwrite=yes\nshadow=no\n", "has a network"),
        ("uid=65534\nnics=lo,\nenv=PATH,ANTHROPIC_API_KEY,\nwrite=yes\nshadow=no\n", "shows the environment"),
        ("uid=65534\nnics=lo,\nenv=PATH,\nshadow=no\n", "cannot write"),
        ("uid=65534\nnics=lo,\nenv=PATH,\nwrite=yes\n", "reads the system's passwords"),
    ],
)
def test_a_sandbox_that_does_not_hold_is_not_used(answer: str, said: str) -> None:
    why = probe._judged(ended(output=answer))
    assert said in why
    assert why.startswith("The shell tool is off")


def test_doctor_hears_what_would_make_it_better(without_bwrap: None) -> None:
    (line,) = probe.findings(sandbox.choose(rehearsal=True, python=PYTHON))
    assert (line.check, line.ok) == ("sandbox", False)
    assert "apt-get install bubblewrap" in line.cure
    (good,) = probe.findings(sandbox.Bwrap(prefix=Path("/usr"), why=""))
    assert good == probe.Finding(check="sandbox", ok=True, cure="")


def test_who_wants_to_be_asked_gets_a_shell_without_a_wall(without_bwrap: None, tmp_path: Path) -> None:
    chosen = sandbox.choose(rehearsal=False, python=PYTHON, unsandboxed="ask")
    assert (chosen.name, chosen.available()) == ("ask", "")
    assert "bwrap not found" in chosen.why  # type: ignore[attr-defined]
    ended = chosen.run("echo $HOME; env | wc -l; pwd", tmp_path, timeout=10, key="k", cancel=Cancel())
    assert ended.exit_code == 0
    assert str(tmp_path) in ended.output


def test_where_a_sandbox_holds_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "trouble_of_bwrap", lambda chosen: "")
    assert sandbox.choose(rehearsal=False, python=PYTHON, unsandboxed="ask").name == "bwrap"


def test_a_rehearsal_never_asks(without_bwrap: None) -> None:
    assert sandbox.choose(rehearsal=True, python=PYTHON, unsandboxed="ask").name == "plain"
