"""The command line: JSON as scripts rely on it, exit codes, a sentence for each mistake."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from .conftest import Terminal

RESULT = [
    "run",
    "url",
    "state",
    "reason",
    "turns",
    "compactions",
    "clearings",
    "offloads",
    "tokens",
    "cost_usd",
]
GOAL = "Make the tests of the orders service pass"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A terminal in whose home a rehearsal ran to its end, and what the command said."""
    from . import conftest

    folder = tmp_path_factory.mktemp("finished")
    (folder / "folder").mkdir()
    kept = {
        name: value for name, value in conftest.os.environ.items() if not name.startswith(conftest.FOREIGN)
    }
    home = {"AGENTDASH_HOME": str(folder / "home"), "PYTHONPATH": str(conftest.ROOT), "COLUMNS": "200"}
    terminal = Terminal(folder=folder / "folder", env=kept | home)
    asked = ("run", GOAL, "--llm", "rehearsal", "--policy", "demo", "--pace", "fast", "--wait", "--json")
    return terminal, terminal.run(*asked, seconds=300)


def test_a_run_without_a_server_runs_to_its_end_and_says_so_in_json(finished: Any) -> None:
    _, said = finished
    assert said.code == 0
    result = said.json
    assert list(result) == [*RESULT, "window", "seconds"]
    assert (result["state"], list(result["tokens"])) == (
        "done",
        ["input", "output", "cache_read", "cache_write"],
    )
    assert list(result["window"]) == ["limit", "max", "final"]
    assert result["window"]["limit"] == 24_000
    assert result["compactions"] >= 3
    assert result["clearings"] >= 2
    assert len(said.out.splitlines()) == 1
    assert f"turn {result['turns']}:" in said.err


def test_ls_and_show_tell_the_same(finished: Any) -> None:
    terminal, said = finished
    slug = said.json["run"]
    (listed,) = terminal.run("ls", "--json").json
    shown = terminal.run("show", slug, "--json").json
    assert listed["run"] == shown["run"] == slug
    assert {"llm", "workspace", "version"} <= set(listed)
    assert shown["pending_orders"] == []
    assert slug in terminal.run("ls").out
    assert "state     done" in terminal.run("show", slug).out


def test_events_come_a_line_each_and_can_begin_anywhere(finished: Any) -> None:
    terminal, said = finished
    lines = [json.loads(line) for line in terminal.run("events", said.json["run"], "--json").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert list(lines[0]) == ["seq", "kind", "turn", "at", "data", "hash"]
    assert lines[0]["kind"] == "run.created"
    after = terminal.run(
        "events", said.json["run"], "--after", str(len(lines) - 2), "--json"
    ).out.splitlines()
    assert [json.loads(line)["seq"] for line in after] == [len(lines) - 1, len(lines)]


def test_the_window_of_any_turn_can_be_read_and_its_request_as_it_was_sent(finished: Any) -> None:
    terminal, said = finished
    slug = said.json["run"]
    window = terminal.run("window", slug, "--turn", "3", "--json").json
    assert {"run", "turn", "version", "tokens", "limit", "parts", "entries", "request_sha256"} <= set(window)
    assert window["turn"] == 3
    body = json.loads(terminal.run("window", slug, "--turn", "3", "--request").out)
    assert body["messages"][0]["role"] == "user"
    assert terminal.run("window", slug, "--turn", "9999").code == 2


def test_search_finds_what_was_cleared_and_says_so(finished: Any) -> None:
    terminal, said = finished
    hits = [json.loads(line) for line in terminal.run("search", "unittest", "--json").out.splitlines()]
    assert {"run", "turn", "message", "state", "episode", "snippet"} == set(hits[0])
    assert {hit["run"] for hit in hits} == {said.json["run"]}
    assert {hit["state"] for hit in hits} & {"cleared", "folded"}
    assert terminal.run("search", "zzzunheardof").code == 1


def test_verify_says_whole_and_finds_what_was_tampered_with(finished: Any) -> None:
    terminal, said = finished
    verdict = terminal.run("verify", "--json")
    assert verdict.code == 0
    assert verdict.json["ok"]
    database = sqlite3.connect(Path(terminal.env["AGENTDASH_HOME"]) / "agentdash.sqlite3")
    database.execute("UPDATE runs_run SET next_seq = next_seq + 1")
    database.commit()
    broken = terminal.run("verify", said.json["run"], "--json")
    database.execute("UPDATE runs_run SET next_seq = next_seq - 1")
    database.commit()
    database.close()
    assert broken.code == 1
    assert broken.json["first_bad"]["why"]


def test_an_order_without_a_worker_waits_and_is_never_called_done(finished: Any) -> None:
    terminal, said = finished
    answer = terminal.run("say", said.json["run"], "One more thing", "--no-wait", "--json")
    assert answer.code == 0
    assert answer.json["state"] == "pending"
    assert answer.json["reason"] == "waiting for a worker"


def test_an_order_that_makes_no_sense_is_rejected_with_the_reason(finished: Any) -> None:
    terminal, said = finished
    answer = terminal.run("step", said.json["run"], "--json")
    assert answer.code == 1
    assert answer.json["state"] == "rejected"
    assert answer.json["reason"]
    assert terminal.run("say", said.json["run"], "  ").code == 2


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["show", "r-zzzzz"], "There is no run r-zzzzz"),
        (["pause", "r-zzzzz"], "There is no run r-zzzzz"),
        (["run", "", "--wait"], "The goal is empty"),
        (["run", "x" * 100, "--wait", "--llm", "rehearsal", "--workspace", "/tmp"], "workspace"),
        (["run", "x", "--wait", "--policy", "defualt"], "Did you mean 'default'"),
        (["run", "x", "--wait", "--limit", "100"], "limit"),
        (["run", "x"], "agentdash serve"),
        (["run", "x", "--wait", "--llm", "gpt-unheard-of"], "gpt-unheard-of"),
    ],
)
def test_a_mistake_gets_a_sentence_and_leaves_nothing_half_made(
    terminal: Terminal, args: list[str], sentence: str
) -> None:
    answer = terminal.run(*args)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert "Traceback" not in answer.err
    assert terminal.run("ls", "--json").json == []
    assert not list((Path(terminal.env["AGENTDASH_HOME"]) / "workspaces").glob("*"))


def test_an_unknown_command_or_option_is_a_usage_mistake(terminal: Terminal) -> None:
    assert terminal.run("fly").code == 2
    assert terminal.run("ls", "--no-such-option").code == 2


def test_commands_of_later_days_are_absent(terminal: Terminal) -> None:
    said = terminal.run("--help").out
    for later in ("undo", "fork", "import", "export", "delete", "whatif", "redact"):
        assert f"  {later} " not in said


def test_an_empty_home_lists_nothing(terminal: Terminal) -> None:
    assert terminal.run("ls", "--json").json == []
    assert "agentdash demo" in terminal.run("ls").err


def test_link_prints_an_address_and_says_when_nobody_is_there(terminal: Terminal) -> None:
    answer = terminal.run("link")
    assert answer.out.startswith("http://127.0.0.1:8765/login?token=")
    assert "agentdash serve" in answer.err


def test_a_database_of_somebody_else_is_left_alone(terminal: Terminal) -> None:
    home = Path(terminal.env["AGENTDASH_HOME"])
    home.mkdir()
    other = sqlite3.connect(home / "agentdash.sqlite3")
    other.execute("CREATE TABLE theirs (id)")
    other.commit()
    other.close()
    refused = terminal.run("migrate")
    assert refused.code == 2
    assert "--adopt" in refused.err
    assert terminal.run("migrate", "--adopt").code == 0
    assert terminal.run("migrate").code == 0


def test_doctor_names_each_check_with_its_cure(terminal: Terminal) -> None:
    found = terminal.run("doctor", "--json").json
    assert {"check", "ok", "cure"} == set(found[0])
    assert all(line["cure"] for line in found if not line["ok"])
