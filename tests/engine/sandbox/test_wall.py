"""Bubblewrap as a wall: what a hostile command tries, and does not get."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.engine.errors import NotRun
from runs.engine.sandbox import owner, quota

from .conftest import Shell

CANARY = "sk-canary-0123456789"


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)


@pytest.fixture
def listener() -> Iterator[int]:
    """A server on the loopback of the machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


ESCAPES = {
    "the system's passwords": "cat /etc/shadow",
    "the list of users": "grep -v nobody /etc/passwd",
    "root's home": "ls -A /root | grep -v .pyenv",
    "the homes": "ls /home/*",
    "the environment of the first process": f"grep -a {CANARY} /proc/1/environ",
    "the environment of every process": f"cat /proc/*/environ | grep -a {CANARY}",
    "the root of another process": "cat /proc/1/root/etc/shadow",
    "its own root": "cat /proc/self/root/etc/shadow",
    "the kernel's memory": "head -c1 /proc/kcore",
    "the kernel's switches": "echo 1 > /proc/sys/kernel/sysrq",
    "a mount": "mount -t tmpfs none /mnt || mount --bind /usr /tmp",
    "a device": "mknod sda b 8 0 && head -c1 sda",
    "a disk": "ls /dev/sd* /dev/vd* /dev/nvme*",
    "a namespace of its own": "unshare -Ur true",
    "becoming root": "su -c true || sudo true || setpriv --reuid=0 true",
    "a file of the system": "touch /usr/bin/evil",
    "the root folder's neighbours": "ls /var/lib /opt /srv /boot",
    "a hard link into the system": "ln /usr/bin/env here",
    "the hostname": "hostname evil || echo evil > /proc/sys/kernel/hostname",
    "the clock": "date -s 2001-01-01",
    "another's process": "kill -0 $(( $$ + 1000 )) || ls -d /proc/[0-9][0-9][0-9]*",
    "a name on the net": "python3 -c 'import socket; socket.getaddrinfo(\"example.com\", 80)'",
    "an address on the net": "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)'",
}


@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES.keys())
def test_a_command_does_not_get(command: str, wall: Shell) -> None:
    ended = wall(f"( {command} ) 2>/tmp/err")
    assert ended.exit_code != 0, ended.output
    assert CANARY not in ended.output


def test_the_loopback_of_the_machine_is_not_there(wall: Shell, listener: int) -> None:
    ended = wall(f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {listener}), 2)'")
    assert "ConnectionRefusedError" in ended.output
    assert wall("tail -n +3 /proc/net/dev | cut -d: -f1").output.split() == ["lo"]


def test_abstract_sockets_of_the_machine_are_not_there(wall: Shell) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind("\0agentdash-canary")
        server.listen()
        ended = wall(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0agentdash-canary\")'"
        )
    assert "ConnectionRefusedError" in ended.output


def test_the_key_is_nowhere_to_be_found(wall: Shell) -> None:
    ended = wall(
        "env; set; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; grep -r canary /workspace /tmp"
    )
    assert CANARY not in ended.output


def test_a_command_is_nobody_and_has_no_powers(wall: Shell) -> None:
    assert (
        wall("id -u; id -un; grep CapEff /proc/self/status").output
        == "65534\nnobody\nCapEff:\t0000000000000000\n"
    )
    assert "NoNewPrivs:\t1" in wall("cat /proc/self/status").output


def test_the_real_user_is_the_workspaces_owner_never_root(wall: Shell) -> None:
    wall("echo x > made")
    made = (wall.workspace / "made").stat()
    assert made.st_uid == wall.workspace.stat().st_uid != 0


def test_git_hooks_and_settings_are_read_only(wall: Shell) -> None:
    assert wall("git init -q . && ls .git/config").exit_code == 0
    ended = wall("echo evil > .git/hooks/pre-commit; echo evil >> .git/config; git config user.name evil")
    assert "Read-only file system" in ended.output
    assert not (wall.workspace / ".git/hooks/pre-commit").exists()
    assert "evil" not in (wall.workspace / ".git/config").read_text()
    assert (
        wall(
            "echo x > a; git add a; git -c user.name=a -c user.email=a@b commit -qm x && git log --oneline"
        ).exit_code
        == 0
    )


def test_a_fork_bomb_ends_with_its_time_and_leaves_nobody(wall: Shell) -> None:
    ended = wall(f": {wall.mark}; bomb() {{ bomb | bomb & }}; bomb; sleep 60", timeout=2)
    assert ended.ms < 8_000
    assert not wall.survivors()
    assert wall("echo alive").output == "alive\n"


def test_tmp_is_small_and_new_each_time(wall: Shell) -> None:
    assert wall("echo x > /tmp/left").exit_code == 0
    assert wall("cat /tmp/left").exit_code != 0
    assert int(wall("df -k --output=size /tmp | tail -1").output) <= 256 * 1024


def test_a_program_from_memory_gains_nothing(wall: Shell) -> None:
    source = (
        "import os; f = os.memfd_create('x'); os.write(f, open('/usr/bin/id', 'rb').read()); "
        "os.execv(f'/proc/self/fd/{f}', ['id', '-u'])"
    )
    assert wall(f'python3 -c "{source}"').output in ("65534\n", "")


def test_a_workspace_of_a_folder_only_root_may_enter_works_too(wall: Shell, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    (locked / "workspace").mkdir(parents=True)
    locked.chmod(0o700)
    wall.workspace = locked / "workspace"
    assert wall("echo in; python3 -c 'print(1)'; echo x > made").output == "in\n1\n"
    assert (locked / "workspace/made").exists()


def test_a_foreign_workspace_of_root_is_refused(wall: Shell) -> None:
    from runs.engine import sandbox

    chosen = sandbox.choose(rehearsal=False, python=Path(sys.executable), uid_slot=7)
    root_owned = Path("/usr")
    with pytest.raises(NotRun, match="belongs to root.*chown -R USER"):
        wall.__class__(sandbox=chosen, workspace=root_owned, spool=wall.spool, mark="x")("touch x")


def test_a_workspace_below_our_own_folder_is_given_to_the_slot(wall: Shell, tmp_path: Path) -> None:
    from runs.engine import sandbox

    chosen = sandbox.choose(rehearsal=False, python=Path(sys.executable), uid_slot=9, made=[tmp_path])
    (wall.workspace / "deep").mkdir()
    (wall.workspace / "deep/file").write_text("x")
    (wall.workspace / "link").symlink_to("/etc/shadow")
    wall.sandbox = chosen
    assert wall("echo y >> deep/file; echo z > deep/new").exit_code == 0
    expected = owner.SLOT_BASE + 9 if owner.is_root() else os.geteuid()
    assert {(wall.workspace / name).stat().st_uid for name in ("", "deep", "deep/file", "deep/new")} == {
        expected
    }
    assert Path("/etc/shadow").stat().st_uid == 0


def test_a_workspace_over_its_quota_can_be_emptied_but_not_filled(
    wall: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wall("head -c 300000 /dev/urandom > big; echo x > small").reason == ""
    monkeypatch.setattr(quota, "is_over", lambda workspace: (workspace / "big").exists())
    ended = wall("echo y > more; cat small")
    assert "File too large" in ended.output
    assert ended.output.endswith("x\n")
    assert "until something is deleted" in ended.reason
    assert wall("rm big").exit_code == 0
    assert wall("echo y > more && cat more").output == "y\n"
