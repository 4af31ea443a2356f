"""Files and functions stay small enough to be read at one go."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles

from .source import PRODUCT, ROOT, name, python, tree

LINES_A_FILE = 300
LINES_A_FUNCTION_P90 = 30
LINES_A_FUNCTION_MEDIAN = 10


def lengths() -> list[int]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for path in python(*PRODUCT) for node in ast.walk(tree(path)))
    return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes if isinstance(node, kinds)]


def test_no_file_is_longer_than_the_ratchet() -> None:
    loq = Path(sys.executable).with_name("loq")
    done = subprocess.run([loq], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_source_file_is_longer_than_three_hundred_lines() -> None:
    found = {
        name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python(*PRODUCT, "tests")
    }
    assert {path: lines for path, lines in found.items() if lines > LINES_A_FILE} == {}


def test_functions_are_short() -> None:
    found = lengths()
    assert quantiles(found, n=10)[-1] <= LINES_A_FUNCTION_P90
    assert median(found) <= LINES_A_FUNCTION_MEDIAN


def test_every_argument_and_result_is_annotated() -> None:
    bare = []
    for path in python(*PRODUCT):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                unnamed = [
                    arg.arg for arg in args if arg.annotation is None and arg.arg not in ("self", "cls")
                ]
                if unnamed or node.returns is None:
                    bare.append(f"{name(path)}:{node.lineno} {node.name} {unnamed}")
    assert bare == []
