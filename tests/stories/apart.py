"""Processes of their own: a house on a home of its own, a stand-in on a port of its own, a command at a time."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.chaos.house import AGENTDASH, House, free_port
from tests.conftest import wait_until

SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The last line: what comes before is progress of another kind."""
        return json.loads(self.out.strip().splitlines()[-1])


def command(house: House, *args: str, **more: str) -> Said:
    """`agentdash …` on the home of this house, in a process of its own."""
    done = subprocess.run(
        [*AGENTDASH, *args],
        env=house.environment() | more,
        cwd=house.home.parent,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return Said(code=done.returncode, out=done.stdout, err=done.stderr)


@contextmanager
def rehearsing(house: House) -> Iterator[str]:
    """`agentdash rehearse` on a port of its own; yields its address."""
    port = free_port()
    process = subprocess.Popen(
        [*AGENTDASH, "rehearse", "--port", str(port)],
        env=house.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(
            lambda: process.poll() is not None or answers(f"{address}/v1/models/hello"), 60, "the stand-in"
        )
        assert process.poll() is None, process.stderr and process.stderr.read()
        yield address
    finally:
        process.kill()
        process.communicate()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
