"""Everything the page can, the terminal can: in words for people, in JSON for scripts, with exit codes for both."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.house import House, free_port
from tests.conftest import wait_until

from .apart import Said, command

LAST_LINE = {
    "run", "url", "state", "reason", "turns", "compactions", "clearings", "offloads", "tokens", "cost_usd", "window",
    "seconds",
}  # fmt: skip
LISTED = LAST_LINE | {"llm", "workspace", "version"}
WINDOW = {
    *("run", "turn", "version", "tokens", "limit", "estimated", "parts", "entries", "request_sha256"),
    "cache",
}
ENTRY = {"n", "message", "turn", "role", "author", "form", "tokens", "pinned", "episode"}
PARTS = [
    "system",
    "tools",
    "memory",
    "notes",
    "episodes",
    "person",
    "assistant",
    "thinking",
    "results",
    "stubs",
]
STATE = "SELECT state FROM runs_run WHERE slug = ?"
ORDER = {"order", "kind", "state", "applied_seq", "reason"}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home: Path = tmp_path_factory.mktemp("terminal") / "home"
    home.mkdir(mode=0o700)
    made = House(home)
    yield made
    made.close()


@pytest.fixture(scope="module")
def done(apart: House) -> Said:
    """The whole demo from the terminal, with nothing running: it serves, works, and ends with one line."""
    return command(
        apart,
        "run",
        "Find the race",
        "--llm",
        "rehearsal",
        "--policy",
        "demo",
        "--pace",
        "fast",
        "--wait",
        "--json",
    )


@pytest.fixture(scope="module")
def serving(apart: House, done: Said) -> House:
    apart.start()
    return apart


def test_run_wait_json_ends_with_one_line_and_code_0(done: Said) -> None:
    """Progress goes to stderr; the window was cleared and compacted on the way."""
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert set(told) == LAST_LINE
    assert set(told["tokens"]) == {"input", "output", "cache_read", "cache_write"}
    assert set(told["window"]) == {"limit", "max", "final"}
    assert (told["state"], told["reason"], told["window"]["limit"]) == ("done", "", 24_000)
    assert told["compactions"] >= 3
    assert told["clearings"] >= 2
    assert told["url"].endswith(f"/runs/{told['run']}/")
    assert f"turn {told['turns']}: window" in done.err


def test_the_shops_tests_were_red_and_are_green_after_it(apart: House, done: Said) -> None:
    folder = Path(apart.home, "workspaces", done.json["run"])
    assert (folder / "docs" / "incident-2031.md").is_file()
    tests = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert tests.returncode == 0, tests.stderr
    red = command(apart, "search", "FAILED (failures=", "--json")
    assert red.json["turn"] < done.json["turns"]


def events(apart: House, done: Said) -> list[dict[str, object]]:
    said = command(apart, "events", done.json["run"], "--json")
    assert said.code == 0
    return [json.loads(line) for line in said.out.splitlines()]


def test_events_are_a_line_each_without_a_gap(apart: House, done: Said) -> None:
    told = events(apart, done)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert set(told[0]) == {"seq", "kind", "turn", "at", "data", "hash"}
    assert str(told[0]["at"]).endswith("Z")


def test_ls_and_show_have_the_keys_scripts_rely_on(serving: House, done: Said) -> None:
    listed = command(serving, "ls", "--json").json
    assert set(listed[0]) >= LISTED
    shown = command(serving, "show", done.json["run"], "--json").json
    assert set(shown) >= LISTED | {"pending_orders"}
    assert shown["url"] == f"http://127.0.0.1:{serving.port}/runs/{done.json['run']}/"


def test_window_is_the_window_of_a_turn_and_request_its_very_bytes(serving: House, done: Said) -> None:
    slug = done.json["run"]
    told = command(serving, "window", slug, "--turn", "40", "--json").json
    assert set(told) == WINDOW
    assert all(set(entry) == ENTRY for entry in told["entries"])
    assert list(told["parts"]) == PARTS
    assert sum(told["parts"].values()) == told["tokens"]
    body = json.loads(command(serving, "window", slug, "--turn", "40", "--request").out)
    assert body["metadata"]["user_id"] == f"{slug}:40"


def test_search_and_verify_answer_from_the_archive(serving: House, done: Said) -> None:
    said = command(serving, "search", "nothing suspicious", "--json")
    assert said.code == 0
    assert set(said.json) == {"run", "turn", "message", "state", "episode", "snippet"}
    assert said.json["state"] == "folded"
    assert command(serving, "search", "zeppelin").code == 1
    verdict = command(serving, "verify", done.json["run"], "--json").json
    assert (verdict["ok"], verdict["first_bad"]) == (True, None)


def test_orders_reach_a_run_of_the_server_and_each_has_one_answer(serving: House) -> None:
    """Handed to the server that is there; pause, step, say, resume, stop: each answered by the run's owner."""
    begun = command(
        serving, "run", "Find it", "--llm", "rehearsal", "--policy", "demo", "--pace", "fast", "--json"
    ).json
    assert set(begun) == {"run", "url", "state"}
    slug = begun["run"]
    orders = {
        "pause": ("pause", slug),
        "step": ("step", slug, "2"),
        "say": ("say", slug, "Mind the lamps."),
        "resume": ("resume", slug),
        "stop_now": ("stop", slug, "--now"),
    }
    for kind, args in orders.items():
        if kind in ("step", "say", "resume"):
            wait_until(lambda: serving.one(STATE, slug) == "paused", 60, "the run to be paused")
        said = command(serving, *args, "--json")
        assert said.code == 0, said.err
        assert set(said.json) == ORDER
        assert (said.json["kind"], said.json["state"]) == (kind, "applied"), said.out
    late = command(serving, "pause", slug, "--json")
    assert (late.code, late.json["state"]) == (1, "rejected")
    assert "the run is stopped" in late.json["reason"]


def test_a_run_that_waits_for_a_person_ends_with_code_3(serving: House) -> None:
    said = command(
        serving,
        "run",
        "Greet",
        "--llm",
        "rehearsal/hello",
        "--max-turns",
        "1",
        "--pace",
        "fast",
        "--wait",
        "--json",
    )
    assert (said.code, said.json["state"]) == (3, "waiting")
    assert said.json["reason"].startswith("budget:")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("show", "r-00000"), "There is no run r-00000."),
        (("pause", "r-00000"), "There is no run r-00000."),
        (("run", "  ", "--llm", "claude-opus-5-5"), "The goal is empty."),
        (("run", "Try", "--llm", "gpt-17"), "'gpt-17' is not known"),
        (("run", "Try", "--llm", "claude-opus-5-5", "--workspace", "/no/such/folder"), "/no/such/folder"),
        (("run", "Try", "--llm", "claude-opus-5-5", "--workspace", "/etc/passwd"), "is a file"),
        (("run", "Try", "--llm", "claude-opus-5-5", "--workspace", "/etc"), "belongs to root"),
        (("run", "Try", "--limit", "2000"), "A limit of 2,000 tokens is too small"),
        (("run", "Try", "--policy", "lavish"), "lavish"),
        (("run", "Try", "--workspace", "/tmp"), "A rehearsal makes its own workspace."),
    ],
)
def test_a_mistake_gets_a_sentence_and_code_2_and_leaves_nothing(
    serving: House, args: tuple[str, ...], sentence: str
) -> None:
    before = serving.one("SELECT count(*) FROM runs_run"), sorted(Path(serving.home, "workspaces").iterdir())
    said = command(serving, *args)
    assert said.code == 2, said
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert before == (
        serving.one("SELECT count(*) FROM runs_run"),
        sorted(Path(serving.home, "workspaces").iterdir()),
    )


def test_half_a_group_of_variables_fails_loudly_and_names_the_other_half(apart: House) -> None:
    said = command(apart, "ls", REDIS_URL="redis://127.0.0.1:1/0")
    assert said.code == 2
    assert "DATABASE_URL" in said.err


def test_a_port_in_use_is_a_sentence_with_the_cure(serving: House, tmp_path: Path) -> None:
    other = House(tmp_path / "home", port=serving.port)
    other.home.mkdir()
    said = command(other, "serve", "--port", str(serving.port), "--no-open")
    assert said.code == 2
    assert f"Port {serving.port} on 127.0.0.1 cannot be used" in said.err
    assert "--port" in said.err


def test_without_a_server_and_without_wait_nothing_is_begun(tmp_path: Path) -> None:
    lone = House(tmp_path / "home", port=free_port())
    lone.home.mkdir()
    said = command(lone, "run", "Greet", "--llm", "rehearsal/hello")
    assert said.code == 2
    assert "start agentdash serve" in said.err


def test_a_run_in_the_server_is_followed_turn_by_turn(serving: House) -> None:
    said = command(serving, "run", "Greet", "--llm", "rehearsal/hello", "--pace", "fast", "--wait")
    assert said.code == 0
    turns = [line.split(":")[0] for line in said.err.splitlines() if line.startswith("turn ")]
    assert turns == ["turn 1", "turn 2", "turn 3"]
    assert "done: 3 turns" in said.out
