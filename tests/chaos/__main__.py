"""`make chaos`: every check in its full size, and the table of what they showed in docs/we-break-it.md."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .house import ROOT

PAGE = ROOT / "docs" / "we-break-it.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def main() -> int:
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as log:
        size = os.environ.get("AGENTDASH_CHAOS", "full")
        variables = {**os.environ, "AGENTDASH_CHAOS": size, "AGENTDASH_CHAOS_LOG": log.name}
        command = [sys.executable, "-m", "pytest", "tests/chaos", "-q", *sys.argv[1:]]
        code = subprocess.run(command, cwd=ROOT, env=variables).returncode
        lines = [json.loads(line) for line in Path(log.name).read_text(encoding="utf-8").splitlines()]
    write({line["id"]: line for line in lines}, size)
    return code


def write(lines: Mapping[str, Mapping[str, Any]], size: str) -> None:
    """The rows of this time take the place of those of an earlier one; the others stay as they are."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table, after = rest.split(END)
    kept = {
        row.split("|")[1].strip(): row
        for row in table.splitlines()
        if row.startswith("| A") or "| ctrl" in row
    }
    rows = kept | {name: _row(line, size) for name, line in lines.items()}
    body = "\n".join(rows[name] for name in sorted(rows, key=_order))
    head = "| check | holds | size | figures | when, where |\n|---|---|---|---|---|"
    PAGE.write_text(f"{before}{BEGIN}\n{head}\n{body}\n{END}{after}", encoding="utf-8")


def _row(line: Mapping[str, Any], size: str) -> str:
    figures = ", ".join(_figures(line["figure"]))
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    where = f"{datetime.now(UTC):%Y-%m-%d}, {machine}"
    return f"| {line['id']} | {'yes' if line['pass'] else '**no**'} | {size} | {figures} | {where} |"


def _figures(figure: Mapping[str, Any], under: str = "") -> Iterator[str]:
    for name, value in figure.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{under}{name} ")
        else:
            yield f"{under}{name.replace('_', ' ')} {str(value).replace('|', '/')}"


def _order(name: str) -> tuple[int, str]:
    digits = "".join(character for character in name.split("-")[0] if character.isdigit())
    return (int(digits or 999), name)


if __name__ == "__main__":
    sys.exit(main())
