"""The project's own source, read as trees and as text."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("agentdash", "runs")


@cache
def tracked() -> tuple[Path, ...]:
    """Every file of the project: what git tracks, or all of an unpacked source archive."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    found = [ROOT / name for name in listed if name] or [
        *ROOT.glob("*"),
        *inside("agentdash", "runs", "tests", "*"),
    ]
    return tuple(path for path in found if path.is_file())


def inside(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (ROOT / folder).rglob("*")


def python(*folders: str) -> list[Path]:
    """Python files below these folders, without migrations and without the workspaces that rehearsals lay out."""
    left_out = ("migrations", "workspace")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if not set(path.relative_to(ROOT).parts) & set(left_out))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an expression, "" for what is no plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every call in a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            called = node.func
            yield (
                node.lineno,
                dotted(called) or (f"?.{called.attr}" if isinstance(called, ast.Attribute) else ""),
            )
