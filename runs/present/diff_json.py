"""An edit as JSON: what the compaction page shows, for scripts. Money in dollars."""

from __future__ import annotations

from typing import Any

from .diff_page import Page
from .fleet_json import iso


def edit(page: Page) -> dict[str, Any]:
    row = page.edit
    return {
        "run": page.run.slug,
        "edit": row.number,
        "kind": page.kind,
        "method": row.method,
        "trigger": row.trigger,
        "state": row.state,
        "by": row.by,
        "reason": row.reason,
        "instructions": row.instructions,
        "turn": row.turn,
        "at": iso(row.at),
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_after,
        "cost_usd": row.cost / 1_000_000,
        "ms": row.ms,
        "episode": row.episode,
        "sums": {
            chip.sum.fate.value: {
                "entries": chip.sum.entries,
                "tokens_before": chip.sum.before,
                "tokens_after": chip.sum.after,
            }
            for chip in page.chips
        },
        "entries": [
            {
                "message": block.row.message,
                "name": block.key,
                "turn": block.turn,
                "fate": block.row.fate.value,
                "before": block.row.before.value if block.row.before else None,
                "after": block.row.after.value if block.row.after else None,
                "tokens_before": block.row.tokens_before,
                "tokens_after": block.row.tokens_after,
            }
            for block in page.blocks
        ],
    }
