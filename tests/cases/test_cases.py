"""The troubles of others that the engine survives today, each as its own test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.source import ROOT

from .__main__ import verdict
from .elsewhere import ELSEWHERE, IMPORTS
from .expand import load

FILE = Path(__file__).with_name("cases.jsonl")
SURVIVED = (
    "A01 A03 A05 A06 A08 A10 A11 A13 A14 A16 A17 A18 A20 A22 B01 B03 B06 B08 B09 B11 B12 "
    "C02 C03 C05 C06 C08 C09 C10 C11 C13 C18 C20 C21 C22 C24 D02 D11 H03 H04 "
    "B04 B14 C01 C14 D09 D10 H01 H06 H08"
)
CASES = {case["id"]: case for case in load(FILE)}
OURS = {case["id"]: case for case in load(FILE.with_name("ours.jsonl"))}
"""More of the same kinds, for every operation and word there is."""


@pytest.mark.parametrize("name", SURVIVED.split())
def test_case(name: str) -> None:
    assert verdict(CASES[name])["problems"] == []


@pytest.mark.parametrize("name", OURS)
def test_another_of_its_kind(name: str) -> None:
    assert verdict(OURS[name])["problems"] == []


def test_every_case_is_run_here_or_held_by_tests_of_the_running_product() -> None:
    assert set(CASES) == {*SURVIVED.split(), *IMPORTS, *ELSEWHERE} & set(CASES)
    assert not set(SURVIVED.split()) & set(ELSEWHERE)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_tests_that_hold_a_case_are_there(name: str) -> None:
    for place in ELSEWHERE[name]:
        file, test = place.split("::")
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), place


ONLY_HTTPS = re.compile(r"(crypto\.(?:randomUUID|subtle)|navigator\.(?:clipboard|serviceWorker|share))(\??)")


def test_no_page_needs_what_only_https_has() -> None:
    """E12: over plain http from another machine these are not there; each use asks first."""
    for path in (ROOT / "static/js").glob("*.js"):
        script = path.read_text(encoding="utf-8")
        for use in ONLY_HTTPS.finditer(script):
            asked = script[use.end() :].startswith("?.") or use[2] or f"if ({use[1]})" in script
            assert asked, f"{path.name}: {use[1]}"


def test_nothing_switches_djangos_guard_against_queries_in_the_loop_off() -> None:
    """F08: a query in the event loop must fail in a test, not pass in silence."""
    name = "ALLOW_ASYNC" + "_UNSAFE"
    sources = [
        *(ROOT / "agentdash").rglob("*.py"),
        *(ROOT / "runs").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
    ]
    assert not [path for path in sources if name in path.read_text(encoding="utf-8")]


def test_an_unknown_operation_fails_its_case() -> None:
    case: dict[str, Any] = {"id": "X", "operation": "levitate", "messages": [], "params": {}, "checks": []}
    assert not verdict(case)["pass"]


def test_an_unknown_word_fails_its_case() -> None:
    assert not verdict({**CASES["C22"], "checks": ["sparkles"]})["pass"]


def test_a_case_that_breaks_off_fails_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    broken = {**CASES["C22"], "messages": [{"role": "user", "content": [{"type": "text", "text": None}]}]}
    assert "broke off" in verdict(broken)["problems"][0]
    assert "Traceback" in capsys.readouterr().err


def run(*given: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.cases", *map(str, given)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_line_that_is_no_case_fails_and_the_others_are_run(tmp_path: Path) -> None:
    good = {**CASES["C22"], "note": "a\u2028b"}
    cases = [json.dumps(good, ensure_ascii=False), '{"id": "cut', '{"id": "X"}', "[1]"]
    strange = {**CASES["C22"], "id": "Y", "params": {"keep": "@expand:stars:3"}}
    file = tmp_path / "some.jsonl"
    file.write_text("\n".join([*cases, "", json.dumps(strange)]), encoding="utf-8")
    done = run(file, "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [(one["id"], one["pass"]) for one in told] == [
        ("C22", True),
        ("line 2", False),
        ("line 3", False),
        ("line 4", False),
        ("line 6", False),
    ]
    assert "lacks, or has in another type: operation" in told[2]["problems"][0]
    assert "stars" in told[4]["problems"][0]


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be read"), (b"", "No case"), (b"\xff", "UTF-8")]
)
def test_a_file_without_cases_gets_a_sentence(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "none.jsonl"
    if content is not None:
        file.write_bytes(content)
    done = run(file)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
