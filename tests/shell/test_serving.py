"""demo and serve: one command, one address, Ctrl-C and what is left; a second one finds the first."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.conftest import wait_until

from .conftest import Terminal

Port = Callable[[], str]


class Visitor:
    """A browser that follows a link and keeps its cookies."""

    def __init__(self, link: str) -> None:
        self.where = urlsplit(link)
        answer, _ = self.get(f"{self.where.path}?{self.where.query}")
        cookies = answer.headers.get_all("Set-Cookie") or []
        self.cookie = "; ".join(one.partition(";")[0] for one in cookies)
        self.status, self.location = answer.status, answer.headers.get("Location")

    def get(self, path: str, accept: str = "text/html") -> tuple[http.client.HTTPResponse, bytes]:
        line = http.client.HTTPConnection(self.where.netloc, timeout=30)
        line.request("GET", path, headers={"Cookie": getattr(self, "cookie", ""), "Accept": accept})
        answer = line.getresponse()
        body = answer.read()
        line.close()
        return answer, body

    def runs(self) -> list[dict[str, Any]]:
        return json.loads(self.get("/", "application/json")[1])


def link_of(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found, line
    return found[0]


def test_demo_shows_a_run_stops_at_ctrl_c_and_goes_on_next_time(terminal: Terminal, free_port: Port) -> None:
    port = free_port()
    first = terminal.start("demo", "--port", port, "--no-open")
    assert first.stdout
    visitor = Visitor(link_of(first.stdout.readline()))
    assert visitor.status == 303
    run = visitor.runs()[0]
    assert visitor.location == f"/runs/{run['run']}/"
    assert visitor.get(visitor.location)[0].status == 200
    wait_until(lambda: visitor.runs()[0]["turns"] >= 1, 60, "the first turn")

    again = terminal.run("demo", "--port", port, "--no-open")
    assert again.code == 0
    assert f"process {first.pid}" in again.out
    assert Visitor(link_of(again.out)).status == 303

    first.send_signal(signal.SIGINT)
    said, _ = first.communicate(timeout=20)
    assert first.returncode == 0
    assert "1 run goes on where it stood, next time: agentdash demo" in said

    second = terminal.start("demo", "--port", port, "--no-open")
    assert second.stdout
    visitor = Visitor(link_of(second.stdout.readline()))
    assert visitor.location == f"/runs/{run['run']}/"
    before = visitor.runs()
    assert len(before) == 1
    wait_until(lambda: visitor.runs()[0]["turns"] > before[0]["turns"], 60, "the run to go on")


def test_demo_keeps_to_its_folder_and_reads_no_key(terminal: Terminal, free_port: Port) -> None:
    env = {"ANTHROPIC_API_KEY": "sk-ant-x", "REDIS_URL": "redis://nowhere/0", "AGENTDASH_LLM": "claude"}
    process = terminal.start("demo", "--port", free_port(), "--no-open", **env)
    assert process.stdout
    visitor = Visitor(link_of(process.stdout.readline()))
    assert visitor.runs()[0]["llm"] == "rehearsal"
    assert (terminal.folder / ".demo/agentdash.sqlite3").is_file()
    assert not Path(terminal.env["AGENTDASH_HOME"]).exists()


def test_sigterm_ends_it_as_well(terminal: Terminal, free_port: Port) -> None:
    process = terminal.start("serve", "--port", free_port(), "--no-open")
    assert process.stdout
    Visitor(link_of(process.stdout.readline()))
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert said.endswith("Stopped.\n")


def test_a_second_server_on_the_same_home_is_refused_with_the_first_ones_number(
    terminal: Terminal, free_port: Port
) -> None:
    first = terminal.start("serve", "--port", free_port(), "--no-open")
    assert first.stdout
    first.stdout.readline()
    second = terminal.run("serve", "--port", free_port(), "--no-open")
    assert second.code == 2
    assert f"process {first.pid}" in second.err
    assert "Traceback" not in second.err


def test_a_port_in_use_is_said_with_the_cure(terminal: Terminal) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = terminal.run("serve", "--port", str(taken.getsockname()[1]), "--no-open")
    assert answer.code == 2
    assert "address already in use. Take another one with --port" in answer.err


def test_a_half_set_group_is_refused(terminal: Terminal) -> None:
    answer = terminal.run("serve", "--no-open", REDIS_URL="redis://localhost/0")
    assert (answer.code, answer.out) == (2, "")
    assert "DATABASE_URL is missing" in answer.err


def test_a_bind_beyond_loopback_needs_a_public_address(terminal: Terminal, free_port: Port) -> None:
    answer = terminal.run("serve", "--port", free_port(), "--no-open", AGENTDASH_HOST="0.0.0.0")
    assert answer.code == 2
    assert "AGENTDASH_PUBLIC_URL" in answer.err


def test_a_worker_of_its_own_needs_redis_and_postgres(terminal: Terminal) -> None:
    answer = terminal.run("worker")
    assert answer.code == 2
    assert "agentdash serve" in answer.err
