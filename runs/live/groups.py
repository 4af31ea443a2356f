"""Names of the channel layer's groups, in one place."""

from __future__ import annotations


def run(run_id: int) -> str:
    """Everybody who watches this run."""
    return f"run.{run_id}"
