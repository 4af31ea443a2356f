"""What may come with an order: each kind's arguments, checked and cleaned."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from typing import Any

from runs.engine.messages import clean
from runs.store.orders import KINDS

from .invalid import Invalid

LONGEST_TEXT = 200_000
LONGEST_INSTRUCTIONS = 4_000
LONGEST_NAME = 200
LONGEST_INPUT = 200_000
MOST_STEPS = 100
MOST_KEPT = 10_000
HOW = ("steer", "queue", "interrupt")
METHODS = ("summary", "clear", "both")


def checked(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the run's owner reads them. Raises Invalid."""
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(KINDS)}."
        raise Invalid(f"There is no order {kind!r}.{hint}")
    known = ARGUMENTS.get(kind, {})
    if unknown := sorted(set(given) - set(known)):
        takes = f"takes {', '.join(known)}" if known else "takes no arguments"
        raise Invalid(f"{kind} knows no {unknown[0]!r}: it {takes}.")
    found = {name: check(given[name]) for name, check in known.items() if name in given}
    if missing := [name for name in REQUIRED.get(kind, ()) if name not in found]:
        raise Invalid(f"{kind} lacks {missing[0]!r}: say which call, as the page or `show` names it.")
    return _said(found) if kind == "say" else {**DEFAULTS.get(kind, {}), **found}


def tidy(value: str) -> str:
    """A person's text as it is archived: one kind of line end, nothing that a database or the API refuses."""
    cleaned: str = clean(value)
    return cleaned.replace("\r\n", "\n").replace("\r", "\n")


def _said(found: Mapping[str, Any]) -> dict[str, Any]:
    if not found.get("text"):
        raise Invalid("There is nothing to say: the text is empty. Write a sentence.")
    return {"how": "steer", **found}


def _text(value: Any) -> str:
    return _bounded("The text", value, LONGEST_TEXT)


def _instructions(value: Any) -> str:
    return _bounded("The instructions", value, LONGEST_INSTRUCTIONS)


def _bounded(what: str, value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text.")
    found = tidy(value).strip()
    if len(found) > most:
        raise Invalid(
            f"{what} has {len(found):,} characters, and {most:,} are allowed. Put the rest into a file."
        )
    return found


def _one_of(what: str, allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in allowed:
            raise Invalid(f"{what} is one of {', '.join(allowed)}, and not {value!r}.")
        return str(value)

    return check


def _number(what: str, least: int, most: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Invalid(f"{what} is a whole number from {least} to {most:,}, and not {value!r}.")
        return value

    return check


def _name(what: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
            raise Invalid(f"{what} is a text of 1 to {LONGEST_NAME} characters, and not {value!r:.80}.")
        return tidy(value)

    return check


def _reason(value: Any) -> str:
    return _bounded("The reason", value, LONGEST_INSTRUCTIONS)


def _flag(value: Any) -> bool:
    if value in (True, "true", "on", "1"):
        return True
    if value in (False, "false", "0"):
        return False
    raise Invalid(f"always is true or false, and not {value!r:.80}.")


def _input(value: Any) -> dict[str, Any]:
    """A tool's input: an object, or its JSON as a form sends it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise Invalid("The input is not valid JSON. Write an object with the tool's arguments.") from None
    if not isinstance(value, dict):
        raise Invalid("The input must be a JSON object with the tool's arguments.")
    if len(json.dumps(value)) > LONGEST_INPUT:
        raise Invalid(f"The input is longer than {LONGEST_INPUT:,} characters. Put the rest into a file.")
    cleaned: dict[str, Any] = clean(value)
    return cleaned


_CALL = {"call": _name("The call"), "input_sha256": _name("The hash of the input")}
OUTCOMES = ("done", "again", "leave")
ARGUMENTS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "step": {"n": _number("The number of steps", 1, MOST_STEPS)},
    "say": {"text": _text, "how": _one_of("how", HOW)},
    "compact": {
        "method": _one_of("The method", METHODS),
        "keep": _number("keep, in messages,", 0, MOST_KEPT),
        "instructions": _instructions,
    },
    "approve": {**_CALL, "always": _flag},
    "deny": {**_CALL, "reason": _reason},
    "edit": {**_CALL, "input": _input},
    "answer": {"call": _CALL["call"], "outcome": _one_of("The outcome", OUTCOMES)},
}
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "approve": ("call", "input_sha256"),
    "deny": ("call",),
    "edit": ("call", "input_sha256", "input"),
    "answer": ("call", "outcome"),
}
"""Whoever allows a call says what they were shown: its id and the hash of its input."""

DEFAULTS: Mapping[str, Mapping[str, Any]] = {"step": {"n": 1}}
