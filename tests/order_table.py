"""What design.md §6 says of every order in every state, written down a second time: what the table of the product is
held against."""

from __future__ import annotations

from collections.abc import Mapping

COLUMNS = (
    *("pause", "resume", "step", "stop", "stop_now", "say", "say queue", "say interrupt", "compact", "clear"),
    *("approve", "deny", "edit", "answer"),
)
HERE = ""
WAKES = {"resume": "running", "say": "running", "say queue": "running", "say interrupt": "running"}
HOLDS = {"pause": "paused", "stop": "stopped", "stop_now": "stopped"}
OF_A_CALL = dict.fromkeys(("approve", "deny", "edit", "answer"), "no")
WINDOW = {"compact": HERE, "clear": HERE}
HELD = {"compact": "pending", "clear": "pending"}
READ = {"say": HERE, "say queue": HERE, "say interrupt": HERE}
WORKS = HOLDS | OF_A_CALL | WINDOW | READ | {"resume": "no", "step": "no", "say queue": "pending"}
WAITS = WAKES | HOLDS | OF_A_CALL | WINDOW | {"step": "no"}
PAUSED = WAITS | READ | {"step": "running", "pause": HERE}
OVER = dict.fromkeys(COLUMNS, "no") | WAKES | {"resume": "no"}
WANTED: Mapping[str, Mapping[str, str]] = {
    "ready": WORKS | {"compact": "nothing", "clear": "nothing"},
    "running": WORKS,
    "waiting: approval": WAITS | HELD | {"approve": "running", "deny": "running", "edit": "running"},
    "waiting: unknown_outcome": WAITS | HELD | {"answer": "running"},
    "waiting: person": WAITS,
    "waiting: children": WAITS,
    "waiting: llm": WAITS,
    "waiting: budget": WAITS,
    "waiting: draft": WAITS,
    "paused": PAUSED,
    "paused in a turn": PAUSED | HELD,
    "done": OVER,
    "failed": OVER | {"resume": "running"},
    "stopped": OVER,
}
"""What comes of it: applied, and the run is in that state then (HERE: where it was) · pending: it waits for the open
turn, or for the run to stop by itself · nothing: it would change nothing, and says so · no: refused by the table."""
