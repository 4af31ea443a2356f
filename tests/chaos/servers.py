"""Postgres and Redis of the tests' own: on free ports, in folders that go, under a user who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg import sql

from tests.conftest import wait_until

WHERE = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/bin", "/usr/bin")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def binaries() -> Path | None:
    """The folder of the newest Postgres server on this machine."""
    found = [path.parent for where in WHERE for path in Path("/").glob(f"{where[1:]}/initdb")]
    return max(
        found, key=lambda path: [int(part) for part in path.parts if part.isdigit()] or [0], default=None
    )


def missing() -> str:
    """What of the two is not installed, "" when both are."""
    needs = {"redis-server": shutil.which("redis-server"), "postgresql": binaries()}
    return " ".join(name for name, found in needs.items() if not found)


def ordinary_user() -> dict[str, Any]:
    """Postgres refuses to run as root: for root's Popen, another user."""
    if os.geteuid():
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@dataclass(slots=True)
class Postgres:
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="agentdash-pg-")))
    port: int = field(default_factory=free_port)
    options: str = ""

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://agentdash@127.0.0.1:{self.port}/{name}"

    def begin(self) -> None:
        if user := ordinary_user():
            os.chown(self.folder, user["user"], user["group"])
        self._run("initdb", "-D", "data", "-U", "agentdash", "--auth=trust", "--no-sync", "-E", "UTF8")
        self.start()

    def make(self, name: str) -> str:
        """A new, empty database; its address."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' {self.options}"
        self._run("pg_ctl", "-D", "data", "-w", "-t", "60", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        """At once, as a crash of the machine would."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def restart(self) -> None:
        self.stop()
        self.start()

    def end(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *args: str) -> None:
        bin_folder = binaries()
        assert bin_folder is not None
        done = subprocess.run(
            [bin_folder / name, *args],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            **ordinary_user(),
        )
        assert done.returncode == 0, done.stderr.decode()


@dataclass(slots=True)
class Redis:
    """The worst case: a restart forgets everything."""

    port: int = field(default_factory=free_port)
    inner: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self.inner = subprocess.Popen(
            [
                "redis-server",
                "--port",
                str(self.port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
            ],
            stdout=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
        )
        wait_until(self._answers, 20, "Redis to start")

    def stop(self) -> None:
        if self.inner:
            self.inner.send_signal(signal.SIGKILL)
            self.inner.wait()
            self.inner = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def forget(self) -> None:
        """Everything that was in it, as a restart would."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def push(self, queue: str, *texts: str) -> None:
        with redis.Redis(port=self.port) as client:
            client.lpush(queue, *[text.encode("utf-8", "surrogatepass") for text in texts])

    def take(self, queue: str) -> int:
        """Take away what lies in a queue; how much it was."""
        with redis.Redis(port=self.port) as client:
            counted, _ = client.pipeline(transaction=True).llen(queue).delete(queue).execute()
            return int(counted)

    def _answers(self) -> bool:
        try:
            with redis.Redis(port=self.port, socket_connect_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False
