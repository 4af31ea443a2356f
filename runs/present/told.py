"""A call whose outcome nobody knows, and of which the agent was told: what a person may add, and has added."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from runs.engine.messages import Message
from runs.models import Order, Run

from .people import person

SAID = "I looked at the {name} of turn {turn} whose outcome was unknown: "
_SAID = re.compile(
    re.escape(SAID).replace(r"\{name\}", r"(?P<name>\S+)").replace(r"\{turn\}", r"(?P<turn>\d+)")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a person may have found. `word`: on the button; `after`: once it is said; `text`: what the agent reads."""

    word: str
    icon: str
    after: str
    text: str


FINDINGS = (
    Finding(word="Mark done", icon="tick", after="done", text="it had run to its end. Do not repeat it."),
    Finding(word="Run again", icon="refresh", after="to be run again", text="it has not run. Run it again."),
    Finding(
        word="Leave", icon="arrow", after="left as it is", text="I cannot tell. Look before you repeat it."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """`start`: how a message about the call begins. `by` and `found`: who has said what of it, "" for nobody."""

    start: str
    by: str = ""
    found: str = ""
    findings: tuple[Finding, ...] = FINDINGS


def told(run: Run, name: str, turn: int) -> Told:
    """What was said of it last, whether or not the agent has read it yet."""
    start = SAID.format(name=name, turn=turn)
    said = Order.objects.filter(run=run, kind="say", args__text__startswith=start).exclude(
        state__in=("rejected", "expired")
    )
    last = said.order_by("-id").first()
    if last is None:
        return Told(start=start)
    text = str(last.args["text"]).removeprefix(start)
    found = next((one.after for one in FINDINGS if one.text == text), "")
    return Told(start=start, by=person(last.by).capitalize(), found=found)


def turns_spoken_of(said: Iterable[Message]) -> set[int]:
    """The turns of the calls that these messages of persons are about."""
    texts = (block for one in said for block in one.content)
    found = (_SAID.match(str(block.get("text", ""))) for block in texts)
    return {int(match["turn"]) for match in found if match}
