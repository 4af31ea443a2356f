"""Why the cache read less than it could: in the provider's words where it says so, else by comparing two requests.

The parts are compared in the order in which the API reads them: llm, tools, system prompt, parameters, messages. Where
nothing differs the entries have expired, or the provider has dropped them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from .events import Form, Frame, Usage
from .window.versions import Entry

TTL_MS = 300_000
"""How long an entry lives after it was last used: our marks ask for five minutes."""

ENOUGH = 0.9
LEAST = 2_048
"""Tokens of a prompt under which a miss is no news: some llms cache nothing so short. Source: the API's pages."""

MOST_CHARS = 100
_CHANGED = {
    "model_changed": "the llm changed",
    "tools_changed": "the tools changed",
    "system_changed": "the system prompt changed",
    "messages_changed": "the messages changed",
}
_FORMS = {Form.CLEARED: "is cleared now", Form.PREVIEW: "is a preview now", Form.FULL: "stands in full again"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request that was answered. `prompt` in tokens; `at_ms` by the run's clock, 0 where nobody knows. `entries` are
    empty where only the version's number is known."""

    frame: Frame
    version: int
    entries: tuple[Entry, ...]
    prompt: int
    at_ms: int
    answer: str = ""
    """The id of its answer, by which the provider can be asked; '' where nobody knows."""


def told(diagnostics: object) -> str:
    """What the API's `diagnostics` of an answer say; '' where they say nothing, or do not know."""
    reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, Mapping) else None
    if not isinstance(reason, Mapping):
        return ""
    words, missed = _CHANGED.get(str(reason.get("type")), ""), reason.get("cache_missed_input_tokens")
    return f"{words}, the provider says: {missed:,} tokens" if words and isinstance(missed, int) else words


def why(before: Sent | None, now: Sent, usage: Usage, provider: str = "") -> str:
    """Why the cache read less than the request before had, in a few words; '' when it read what it could."""
    if before is None or usage.prompt < LEAST or usage.cache_read >= ENOUGH * before.prompt:
        return ""
    return (provider or _changed(before, now) or _gone(before, now))[:MOST_CHARS]


def head_changed(before: Frame, now: Frame) -> str:
    """What of all that stands before the messages is another than it was; '' where nothing is."""
    for name, words in (("llm", "the llm"), ("tools", "the tools"), ("system", "the system prompt")):
        if before is not now and _plain(getattr(before, name)) != _plain(getattr(now, name)):
            return f"{words} changed"
    return ""


def _changed(before: Sent, now: Sent) -> str:
    if changed := head_changed(before.frame, now.frame):
        return changed
    if _thinking(before.frame) != _thinking(now.frame):
        return "the thinking parameters changed"
    if before.version != now.version and not before.entries:
        return "the window was edited"
    return _first_message(before, now)


def _first_message(before: Sent, now: Sent) -> str:
    same = sum(1 for _ in takewhile(_alike, zip(before.entries, now.entries, strict=False)))
    if same == len(before.entries):
        return ""
    was = before.entries[same].message
    if same < len(now.entries) and now.entries[same].message.number == was.number:
        return (
            f"the window was edited: message {was.number} (turn {was.turn}) {_FORMS[now.entries[same].form]}"
        )
    return f"the window was edited: message {was.number} (turn {was.turn}) stands elsewhere or not at all"


def _alike(pair: tuple[Entry, Entry]) -> bool:
    one, other = pair
    return one.message.number == other.message.number and one.form is other.form


def _gone(before: Sent, now: Sent) -> str:
    passed = now.at_ms - before.at_ms
    if before.at_ms and passed > TTL_MS:
        return f"its entries had expired: {passed / 60_000:.0f} minutes had passed, and they live for five"
    return "nothing changed: the provider had no entry left, or had not written one"


def _thinking(frame: Frame) -> Any:
    request = frame.params["request"]
    return [request.get("thinking"), request.get("tool_choice")]


def _plain(value: Any) -> Any:
    """A frame that was read back holds lists where a fresh one has tuples."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
