"""One technique, one file, one test file: the same stem everywhere."""

from __future__ import annotations

import ast

import pytest

from runs.engine.policy import preset, presets

from .source import ROOT, python, tree

MIDDLEWARE = ROOT / "runs/engine/middleware"


def techniques() -> list[str]:
    """Stems of files that hold a technique: a class that acts in the loop."""
    found = []
    for path in python("runs/engine/middleware"):
        classes = [node for node in tree(path).body if isinstance(node, ast.ClassDef)]
        if any(getattr(base, "id", "") == "Technique" for node in classes for base in node.bases):
            found.append(path.stem)
    return found


def test_there_are_techniques() -> None:
    assert {"offload", "clear_results", "compact", "notes", "recall", "valves", "spin"} <= set(techniques())


@pytest.mark.parametrize("stem", techniques())
def test_a_technique_has_its_test(stem: str) -> None:
    assert (ROOT / f"tests/engine/middleware/test_{stem}.py").is_file()


@pytest.mark.parametrize("stem", techniques())
def test_a_technique_is_one_class_in_its_file(stem: str) -> None:
    classes = [node for node in tree(MIDDLEWARE / f"{stem}.py").body if isinstance(node, ast.ClassDef)]
    acting = [
        node.name for node in classes if any(getattr(base, "id", "") == "Technique" for base in node.bases)
    ]
    assert len(acting) == 1


@pytest.mark.parametrize("name", presets())
def test_every_technique_a_preset_names_exists(name: str) -> None:
    assert set(preset(name).techniques) <= set(techniques())
