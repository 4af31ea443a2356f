"""What a database of an earlier release held, as lines of JSON: to be migrated, verified and worked on by this one.

tests/chaos/releasing.py writes such a file. The tables come from the release's own migrations, which never change.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction

import runs.migrations
from runs.store import sql

FOLDER = Path(__file__).with_name("released")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`heads`: the head hash of each run by its slug. `tables`: name, columns and rows of each."""

    release: str
    migrations: dict[str, str]
    heads: dict[str, str]
    tables: list[dict[str, Any]]


def read(name: str) -> Release:
    head, *tables = map(json.loads, (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return Release(**head, tables=tables)


def load(release: Release, workspaces: Path) -> None:
    """Rows into tables that are as that release left them: in SQL, for today's models may know other columns.

    The folder of each run's workspace is a new one in `workspaces`. The search index is not among the rows: what is
    in it cannot be read back.
    """
    held = {table["table"] for table in release.tables}
    models = [model for model in apps.get_models() if model._meta.db_table in held]
    with transaction.atomic():
        for table in release.tables:
            columns, rows = table["columns"], [list(map(_as_stored, row)) for row in table["rows"]]
            if table["table"] == "runs_run":
                at = columns.index("slug")
                columns, rows = [*columns, "workspace"], [[*row, str(workspaces / row[at])] for row in rows]
            sql.insert(table["table"], tuple(columns), [tuple(row) for row in rows])
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            sql.execute(statement)


def _as_stored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    if kind == "at":
        return sql.stamp(datetime.fromisoformat(inner))
    return base64.b64decode(inner) if kind == "bytes" else sql.dumps(inner)


def migrations() -> dict[str, str]:
    """Every migration of the tables by its name, with a hash of its text."""
    files = sorted(Path(runs.migrations.__path__[0]).glob("0*.py"))
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
