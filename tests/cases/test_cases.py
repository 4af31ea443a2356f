"""The troubles of others that the engine survives today, each as its own test."""

from __future__ import annotations

import re
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
