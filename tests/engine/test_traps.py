"""Ten traps that a prototype of this engine fell into, and the tests that keep ours out of each.

A test of a trap says so in its docstring ("Trap 3: …"); here they are found by it.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.house.source import ROOT

TRAPS = {
    1: "Ledger and notes inside what is summarised come back as summary until none fits.",
    2: "A ledger without keys and rarity fills with UTF-8 and SHA-256.",
    3: "Six messages as a hard floor with twelve parallel reads: 57 compactions in 60 turns.",
    4: "One cache mark reads nothing when a turn adds more than 20 blocks.",
    5: "Search results cut by tokens: a fact comes back in halves.",
    6: "Thinking kept behind an edit is refused by llms that bind it.",
    7: "Clearing by markers without key lines leaves one or two of nine facts in view.",
    8: "Results stored twice, and item lists per turn, double the bytes.",
    9: "Thirty parallel reads jump over the window: count after the results, before the call.",
    10: "One token share per message is 37 % wrong after edits.",
}


@cache
def found() -> dict[int, list[str]]:
    """Number of a trap → the tests that name it."""
    named: dict[int, list[str]] = {number: [] for number in TRAPS}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            told = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else ""
            if told and told.startswith("Trap ") and node.name.startswith("test_"):  # type: ignore[attr-defined]
                number = int(told.removeprefix("Trap ").split()[0].rstrip(":,"))
                named[number].append(f"{path.name}::{node.name}")  # type: ignore[attr-defined]
    return named


@pytest.mark.parametrize("number", TRAPS)
def test_every_trap_has_a_test(number: int) -> None:
    assert found()[number], TRAPS[number]
