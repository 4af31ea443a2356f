"""One row in a process of its own, so that memory and caches of others do not count: `python -m bench.one '{…}'`."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from .job import Job, Result


def measure(job: Job) -> Result:
    from . import bare, engine, path

    rows = {"bare": bare.run, "engine": engine.run, "path": path.run}
    with tempfile.TemporaryDirectory(prefix="agentdash-bench-") as folder:
        return rows[job.row](job, Path(folder))


if __name__ == "__main__":
    print(json.dumps(measure(Job(**json.loads(sys.argv[1]))).told()), flush=True)
