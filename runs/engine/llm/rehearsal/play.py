"""Plays one turn of a script: the step's words and calls, what it fetches again, what a person said."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .count import blocks_of
from .script import Call, Script, Step
from .wire import Place, Said

QUOTED = 240
_GO_ON = "Continue the work."
"""The line that opens a conversation anew; only what is said after it is news."""

_PRODUCTS = re.compile(r"<|\[|Continue the work\.|The last \d+ calls of |Your (?:last )?answer was ")
_STOP = re.compile(r"\bstop (?:after this|here|now)\b", re.IGNORECASE)
_SKIP = re.compile(r"\bskip\b", re.IGNORECASE)
_REDO = re.compile(r"\bredo\b|\bagain\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"\bexplain\b|\bwhy\b", re.IGNORECASE)


def play(script: Script, place: Place, messages: Sequence[Mapping[str, Any]]) -> Said:
    """The answer of turn `place.turn`: a pure function of the script and the request."""
    step = _mended(script.step(place.turn), messages)
    wish = news(messages)
    if wish:
        step = _steered(script, place, step, wish)
    again = _missing(step, messages) if step.calls else ()
    if again:
        step = replace(
            step, says=f"{step.says} {_AGAIN.format(names=_names(again))}", calls=(*again, *step.calls)
        )
    return answer(place, step)


_AGAIN = "I no longer have {names} in front of me, so I look there again."


def answer(place: Place, step: Step) -> Said:
    content: list[Mapping[str, Any]] = []
    if step.thinks:
        content.append({"type": "thinking", "thinking": step.thinks, "signature": ""})
    content.append({"type": "text", "text": step.says})
    for index, call in enumerate(step.calls):
        content.append(
            {"type": "tool_use", "id": call_id(place, index), "name": call.name, "input": dict(call.input)}
        )
    return Said(content=tuple(content), stop_reason="tool_use" if step.calls else "end_turn")


def call_id(place: Place, index: int) -> str:
    """The id of a call: the same for the same turn of the same run, however often it is asked for."""
    name = hashlib.blake2b(f"{place.slug}:{place.turn}:{index}".encode(), digest_size=9).hexdigest()
    return f"toolu_{place.turn:04d}{index:02d}{name}"


def news(messages: Sequence[Mapping[str, Any]]) -> str:
    """What a person wrote since the last answer, "" for nothing. The goal is no news, nor is what the
    product adds."""
    blocks = blocks_of(messages[-1]["content"])
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if len(messages) == 1:
        texts = texts[texts.index(_GO_ON) + 1 :] if _GO_ON in texts else []
    return "\n".join(text for text in texts if not _PRODUCTS.match(text))


def _steered(script: Script, place: Place, step: Step, wish: str) -> Step:
    """The step as a person's message changes it: quoted in any case, and for a few phrases another course."""
    quote = " ".join(wish.split())[:QUOTED]
    if _STOP.search(wish):
        return Step(says=f"You wrote: “{quote}” Understood, I stop here. {_standing(script, place)}")
    if _SKIP.search(wish):
        if step.must or not step.calls:
            return replace(
                step,
                says=f"You wrote: “{quote}” The rest depends on this step, so I do it first. {step.says}",
            )
        return Step(says=f"You wrote: “{quote}” Then I leave this out and only look around.", calls=(_LOOK,))
    if _REDO.search(wish) and place.turn > 1:
        before = script.step(place.turn - 1)
        says = f"You wrote: “{quote}” I do the last step once more. {step.says}"
        return replace(step, says=says, calls=(*before.calls, *step.calls))
    if _EXPLAIN.search(wish):
        reason = step.thinks or step.says
        return replace(step, says=f"You wrote: “{quote}” My reasoning: {reason}")
    return replace(step, says=f"You wrote: “{quote}” I keep that in mind. {step.says}")


_LOOK = Call(name="list_files", input={"path": "."})


def _standing(script: Script, place: Place) -> str:
    at = f"I am at step {min(place.turn, script.length)} of about {script.length}"
    return f"{at}; write to me and I go on from there."


def _mended(step: Step, messages: Sequence[Mapping[str, Any]]) -> Step:
    if not step.mends or step.mends not in "\n".join(_texts(messages[-1]["content"])):
        return step
    return replace(step, says=step.mending or step.says, calls=step.mend)


def _missing(step: Step, messages: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    """The calls that bring back what the step needs and the request does not hold, each once."""
    if not step.needs:
        return ()
    sight = "\n".join(_texts([message["content"] for message in messages]))
    missing = [need.by for need in step.needs if need.fact not in sight]
    return tuple({repr(call): call for call in missing if call not in step.calls}.values())


def _names(calls: Sequence[Call]) -> str:
    names = [str(call.input.get("path") or call.input.get("query") or "my notes") for call in calls]
    return " and ".join(dict.fromkeys(names))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
