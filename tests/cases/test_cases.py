"""The troubles of others that the engine survives today, each as its own test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .__main__ import verdict
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


def test_an_unknown_operation_fails_its_case() -> None:
    case: dict[str, Any] = {"id": "X", "operation": "levitate", "messages": [], "params": {}, "checks": []}
    assert not verdict(case)["pass"]


def test_an_unknown_word_fails_its_case() -> None:
    assert not verdict({**CASES["C22"], "checks": ["sparkles"]})["pass"]
