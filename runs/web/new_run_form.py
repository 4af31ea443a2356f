"""What the New run form says, as a typed wish; a mistake of form names its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs import control
from runs.engine.llm.rehearsal import scripts

FIELDS = ("goal", "llm", "workspace", "policy", "limit", "max_turns", "max_usd", "pace")

SPEAKS_OF = (
    ("no price", "max_usd"),
    ("rehearsal makes its own workspace", "workspace"),
    ("goal", "goal"),
    ("workspace", "workspace"),
    ("folder", "workspace"),
    ("limit", "limit"),
    ("policy", "policy"),
    ("rehearsal", "llm"),
    ("llm", "llm"),
    ("what '", "llm"),
)


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
    text = {name: _text(given.get(name)) for name in FIELDS}
    return control.Start(
        goal=text["goal"] or scripted_goal(text["llm"]),
        llm=text["llm"],
        workspace=text["workspace"],
        policy=text["policy"] or "default",
        limit=_whole(text, "limit", "a whole number of tokens, like 24000"),
        max_turns=_whole(text, "max_turns", "a whole number, like 200"),
        max_usd=_dollars(text["max_usd"]),
        pace=text["pace"] or "human",
    )


def _text(value: Any) -> str:
    """A field as typed; JSON may say 0, which is an answer, or null, which is none."""
    return "" if value is None else str(value).strip()


def scripted_goal(llm: str) -> str:
    """A rehearsal brings its goal along; '' for a real llm, and for a script that there is not."""
    name = llm.partition("+")[0].removeprefix("rehearsal").removeprefix("/")
    known = llm.startswith("rehearsal") and (not name or name in scripts.names())
    return scripts.get(name).goal if known else ""


def field_of(sentence: str) -> str:
    """The field that a refusal speaks of: of the things we know, the one it names first; '' for none of them."""
    said = sentence.casefold()
    named = [(said.find(word), field) for word, field in SPEAKS_OF if word in said[:48]]
    return min(named, key=lambda found: found[0])[1] if named else ""


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
        raise Mistake(
            "max_usd", "Give dollars as a number, like 2.50, or leave it empty for the policy's own."
        )
    return dollars
