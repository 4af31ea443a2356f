"""A run's state in words: the pill, the banner, the row of the feed. Icon, word and colour always go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs.models import Order, Run

from .people import person

WAITING = {
    "approval": "Needs approval",
    "person": "Needs you",
    "children": "Waits for children",
    "llm": "Llm unreachable",
    "budget": "Valve reached",
    "unknown_outcome": "Outcome unknown",
    "draft": "Draft waits",
}
REFUSED = "Llm refuses"
"""It can be reached, and says no: a wrong key, no credit, no such model."""

PLAIN = {
    "ready": ("run", "clock", "Ready"),
    "running": ("run", "", "Running"),
    "paused": ("pause", "pause", "Paused"),
    "done": ("done", "tick", "Done"),
    "failed": ("fail", "cross", "Failed"),
    "stopped": ("done", "stop", "Stopped"),
}
HOLDS = {"paused": ("pause", "step"), "stopped": ("stop", "stop_now")}
"""The orders by which a person brings a run to that state."""

UNSURE = "unknown_outcome"
BANNERS = {"paused": "warn", "failed": "bad", "waiting": "wait", "done": "done", "stopped": "done"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An empty `icon` is the pulsing dot. `key` is the kind of a reason, `why` the sentence after its colon."""

    css: str
    icon: str
    word: str
    key: str = ""
    why: str = ""
    by: str = ""

    @property
    def is_about_a_call(self) -> bool:
        """A call waits for a word: going on is no answer to that."""
        return self.key in ("approval", UNSURE)


def status(run: Run, by: Mapping[int, str] | None = None) -> Status:
    """`by`: of many runs who held them, where that has been read for all at once."""
    key, why = reason(run.reason)
    if run.state == "waiting":
        word = REFUSED if key == "llm" and why.startswith("4") else WAITING.get(key, "Waiting")
        return Status(css="wait", icon="hand", word=word, key=key, why=why)
    css, icon, word = PLAIN[run.state]
    if run.state == "running" and key == "step":
        word = "Stepping"
    name = (held_by([run]) if by is None else by).get(run.pk, "")
    return Status(css=css, icon=icon, word=word, key=key, why="" if name else why, by=name)


def held_by(runs: Iterable[Run]) -> dict[int, str]:
    """Who paused or stopped these runs, by key; one query for all of them, none where nobody did."""
    kinds = {
        run.pk: HOLDS[run.state] for run in runs if run.state in HOLDS and reason(run.reason)[0] == "person"
    }
    if not kinds:
        return {}
    asked = Order.objects.filter(run__in=list(kinds), kind__in=sum(HOLDS.values(), ()), state="applied")
    rows = asked.order_by("applied_seq").values_list("run", "kind", "by")
    found = {run: by for run, kind, by in rows if kind in kinds[run]}
    return {run: person(found.get(run, "")) for run in kinds}


def reason(text: str) -> tuple[str, str]:
    """A reason's kind and sentence: "llm: 401 …" → ("llm", "401 …"); a sentence alone has no kind."""
    kind, colon, rest = text.partition(":")
    if colon and kind.replace("_", "").isalpha():
        return kind, rest.strip()
    return (text, "") if text.replace("_", "").isalpha() else ("", text)


def in_words(text: str) -> str:
    """A reason as a row of the feed says it."""
    key, why = reason(text)
    return why or {"person": "by order", "": ""}.get(key, key.replace("_", " "))
