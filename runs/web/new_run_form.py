"""What the New run form says, as a typed wish; a mistake of form names its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs import control

FIELDS = ("goal", "llm", "workspace", "policy", "limit", "max_turns", "max_usd", "pace")


class Mistake(ValueError):
    """A field that cannot be read. The message is the sentence a person reads."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def blank(llm: str, has_key: bool) -> dict[str, str]:
    """The form as it opens: without a key only the rehearsal can run, and it needs nothing else."""
    rehearsal = not (llm and has_key)
    return {"llm": "rehearsal" if rehearsal else llm, "policy": "demo" if rehearsal else "default"}


def read(given: Mapping[str, Any]) -> control.Start:
    """Numbers read, text trimmed. Whether goal, workspace and limit make sense, control decides."""
    text = {name: str(given.get(name) or "").strip() for name in FIELDS}
    return control.Start(
        goal=text["goal"],
        llm=text["llm"] or "rehearsal",
        workspace=text["workspace"],
        policy=text["policy"] or "default",
        limit=_whole(text, "limit", "a whole number of tokens, like 24000"),
        max_turns=_whole(text, "max_turns", "a whole number, like 200"),
        max_usd=_dollars(text["max_usd"]),
        pace=text["pace"] or "human",
    )


def _whole(text: Mapping[str, str], name: str, like: str) -> int | None:
    value = text[name].replace(",", "").replace("_", "")
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise Mistake(name, f"Give {like}, or leave it empty for the policy's own.")
    return int(value)


def _dollars(text: str) -> float | None:
    value = text.lstrip("$").replace(",", "")
    if not value:
        return None
    try:
        dollars = float(value)
    except ValueError:
        dollars = -1.0
    if not 0 <= dollars < 1_000_000:
        raise Mistake("max_usd", "Give dollars as a number, like 2.50, or leave it empty for the policy's own.")
    return dollars
