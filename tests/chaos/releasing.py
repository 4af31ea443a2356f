"""`python -m tests.chaos.releasing NAME` writes released/NAME.jsonl: what the checkout it runs in leaves in a database.

Done once, when a release is made, with AGENTDASH_HOME on an empty folder.
"""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from . import lives
from .released import FOLDER, migrations

# isort: split
from django.apps import apps

from agentdash import database, door
from runs import control, tasks
from runs.models import Run
from runs.runner import slice as slices

FIRST = ("auth.User", "runs.Run", "runs.Blob", "runs.Frame")
"""The tables that others refer to; the rest follows."""

RUNS = (("rehearsal/errands-9", 1, "after_tx3"), ("rehearsal/job-16", 3, "after_tx2"))
"""One that dies in the middle of a command, one whose window was cleared and compacted: llm, slices, crash point."""


def main(name: str) -> None:
    tasks.hint = lambda run_id: True
    slices.TURNS = 3
    database.migrate()
    for llm, walked, point in RUNS:
        run = lives.begin(llm, policy="demo")
        for _ in range(walked):
            lives.step(run.pk)
        control.order(door.local(), run, "compact")
        lives.step(run.pk)
        dying = f"from tests.chaos import lives; lives.walk({run.pk}, {{{point!r}: 1.0}})()"
        assert subprocess.run([sys.executable, "-c", dying]).returncode == -signal.SIGKILL
    heads = dict(Run.objects.values_list("slug", "head_hash"))
    lines = [{"release": name, "migrations": migrations(), "heads": heads}, *_rows()]
    FOLDER.mkdir(exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _rows() -> Iterator[dict[str, Any]]:
    models = [apps.get_model(label) for label in FIRST]
    models += [model for model in apps.get_app_config("runs").get_models() if model not in models]
    for model in models:
        fields = [field for field in model._meta.concrete_fields if field.name != "workspace"]
        kept = [[_plain(field, getattr(row, field.attname)) for field in fields] for row in _all(model)]
        yield {"table": model._meta.db_table, "columns": [field.column for field in fields], "rows": kept}


def _all(model: Any) -> Any:
    return model._default_manager.order_by("pk")


def _plain(field: Any, value: Any) -> Any:
    if isinstance(value, datetime):
        return {"at": value.isoformat()}
    if isinstance(value, bytes | memoryview):
        return {"bytes": base64.b64encode(bytes(value)).decode()}
    return {"json": value} if field.get_internal_type() == "JSONField" else value


if __name__ == "__main__":
    main(sys.argv[1])
