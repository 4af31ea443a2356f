"""Arrows only point down, and the engine runs without anything around it."""

from __future__ import annotations

import subprocess
import sys

from .source import ROOT

ALONE = """
import pkgutil, sys
import runs.engine
for module in pkgutil.walk_packages(runs.engine.__path__, "runs.engine."):
    if ".workspace" not in module.name and not module.name.endswith("__main__"):
        __import__(module.name)
shared = {"django", "celery", "kombu", "channels", "redis", "asgiref", "agentdash"} & set(sys.modules)
shared |= {name for name in sys.modules if name.startswith("runs.") and not name.startswith("runs.engine")}
sys.exit(", ".join(sorted(shared)) or 0)
"""


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fresh_interpreter_runs_the_engine_without_django_celery_channels_or_redis() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"the engine imported {done.stderr}"


def test_the_map_of_the_house_imports_nothing() -> None:
    asks = "import sys, runs; sys.exit(len([n for n in sys.modules if n.startswith('runs.')]))"
    assert subprocess.run([sys.executable, "-c", asks], cwd=ROOT, check=False).returncode == 0
