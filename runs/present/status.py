"""A run's state in words: the pill, the banner, the row of the feed. Icon, word and colour always go together."""

from __future__ import annotations

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


def status(run: Run) -> Status:
    key, why = reason(run.reason)
    if run.state == "waiting":
        word = REFUSED if key == "llm" and why.startswith("4") else WAITING.get(key, "Waiting")
        return Status(css="wait", icon="hand", word=word, key=key, why=why)
    css, icon, word = PLAIN[run.state]
    if run.state == "running" and key == "step":
        word = "Stepping"
    by = _who(run) if run.state in ("paused", "stopped") and key == "person" else ""
    return Status(css=css, icon=icon, word=word, key=key, why="" if by else why, by=by)


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


def _who(run: Run) -> str:
    """Who paused or stopped it."""
    kinds = ("pause", "step") if run.state == "paused" else ("stop", "stop_now")
    asked = Order.objects.filter(run=run, kind__in=kinds, state="applied").order_by("-applied_seq")
    by = asked.values_list("by", flat=True).first() or ""
    return person(by)
