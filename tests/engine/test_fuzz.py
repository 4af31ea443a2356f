"""A42: random histories under random chains of clear, compact, offload, say, undo, pin and drop: W1-W12 always hold.

`AGENTDASH_FUZZ` is the number of examples (`make fuzz`: 5,000). A chain that breaks a rule is made as small as it goes
and written to `fuzz-case.jsonl` in the folder for temporary files; `python -m tests.cases FILE` runs it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.cases.__main__ import verdict
from tests.cases.chain import Chain, lay_chain
from tests.cases.ground import lay

from .histories import chains, histories

EXAMPLES = int(os.environ.get("AGENTDASH_FUZZ") or 500)
WRITTEN = Path(tempfile.gettempdir()) / "fuzz-case.jsonl"
LIMIT = 6_000
P95_MS = 50
THINKING = st.sampled_from(["none", "manual", "adaptive", "bound"])
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
MANY = settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES <= 500,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
CHECKS = ["rules_hold", "pairs", "results_first", "unique_ids", "no_blank", "alternate", "ends_user"]


def case_of(spoken: list[dict[str, Any]], chain: list[dict[str, Any]], thinking: str) -> dict[str, Any]:
    """The chain as a line of a case file."""
    return {
        "id": "FUZZ",
        "kind": "c",
        "source": ["tests/engine/test_fuzz.py"],
        "operation": "chain",
        "input_valid": True,
        "messages": spoken,
        "params": {"window": LIMIT, "thinking": thinking, "acts": chain},
        "expect": "W1-W12 hold after every act",
        "checks": CHECKS,
    }


class Times:
    """Seconds of every act of every chain."""

    acts: list[float] = []  # noqa: RUF012


@MANY
@given(histories(), chains(), THINKING)
def walk(spoken: list[dict[str, Any]], chain: list[dict[str, Any]], thinking: str) -> None:
    case = case_of(spoken, chain, thinking)
    try:
        made = Chain(lay_chain(lay(spoken, case["params"]), case["params"]))
        made.look()
        for act in chain:
            made.act(act)
        Times.acts += made.seconds
    except Exception:
        WRITTEN.write_text(json.dumps(case) + "\n", encoding="utf-8")
        raise


def test_whatever_is_done_to_a_window_it_can_be_sent_and_nothing_is_lost() -> None:
    Times.acts.clear()
    walk()
    p95 = sorted(Times.acts)[int(0.95 * len(Times.acts))] * 1000
    figure = f"{EXAMPLES} histories, {len(Times.acts)} acts, p95 {p95:.1f} ms"
    sys.stdout.write(json.dumps({"id": "A42", "pass": p95 < P95_MS, "figure": figure}) + "\n")
    assert p95 < P95_MS or EXAMPLES <= 500, "in full size the time of an act is part of the check"


def test_a_chain_that_breaks_a_rule_can_be_run_as_a_case() -> None:
    broken = case_of([{"role": "user", "content": "go"}], [{"what": "levitate"}], "none")
    assert verdict(broken)["problems"] == ["rules_hold: act 0, levitate: no act 'levitate'"]
    assert verdict({**broken, "params": {**broken["params"], "acts": [{"what": "say", "text": "on"}]}})[
        "pass"
    ]
