"""A tool that takes its worker down with it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from runs.engine.ports import ToolResult
from runs.engine.tools.shell import RunCommand


def _exit() -> None:
    sys.exit("the tool had enough")


def _no_memory() -> None:
    raise MemoryError


def _segfault() -> None:
    ctypes.string_at(0)


WAYS: Mapping[str, Callable[[], None]] = {"sys.exit": _exit, "MemoryError": _no_memory, "segfault": _segfault}


def crashing(
    live: Callable[[], None], how: str, *, times: int, folder: Path, tool: Any = RunCommand
) -> Callable[[], None]:
    """The life `live` with a tool that crashes so, the first `times` times in this folder over all lives."""
    real = tool.run

    def run(self: Any, given: Any, context: Any) -> ToolResult:
        mark = folder / "crashes.txt"
        before = len(mark.read_text(encoding="utf-8")) if mark.exists() else 0
        if before < times:
            mark.write_text("x" * (before + 1), encoding="utf-8")
            WAYS[how]()
        result: ToolResult = real(self, given, context)
        return result

    def crashed() -> None:
        tool.run = run
        live()

    return crashed
