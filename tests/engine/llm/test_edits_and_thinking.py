"""W5 over the wire: after every edit, the rehearsal server takes what is sent, for each way an llm thinks.

It refuses thinking that was altered, that is unsigned, that stands behind another prefix on a bound llm, and a tool
loop without its thinking on a manual one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from runs.engine.errors import BadRequest
from runs.engine.events import WindowEdited
from runs.engine.llm import connect
from runs.engine.messages import Author, Kind, Role, canonical
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.middleware.pins import drop, pin
from runs.engine.middleware.undo import undo
from runs.engine.ports import Answer, Cancel, Llm
from runs.engine.window.hands import Past
from runs.engine.window.render import frame_of
from tests.cases.ground import Ground
from tests.engine.stage import add, gave, laid, lines, of, user

from .asking import TOOL
from .served import served

LLMS = {
    "bound": "claude-opus-5-5",
    "adaptive": "claude-opus-4-8",
    "manual": "claude-haiku-4-5",
}
ASKS: dict[str, dict[str, Any]] = {
    "bound": {"type": "adaptive"},
    "adaptive": {"type": "adaptive"},
    "manual": {"type": "enabled", "budget_tokens": 1024},
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("orders") as at:
        yield at


@cache
def reached(address: str, kind: str) -> Llm:
    return connect(LLMS[kind], base_url=address)


def begun(address: str, kind: str, turns: int = 9) -> Ground:
    """A run on that server, in the middle of a tool loop: every answer was thought and signed there."""
    llm = reached(address, kind)
    assert llm.capability.thinking == kind
    ground = laid([user("Read the pages and write down what they say.")], limit=100_000, replies=["Short."])
    desk = ground.desk
    desk.frame = desk.gauge.frame = frame_of(
        llm=LLMS[kind],
        system="You are an agent.",
        tools=[TOOL],
        params={"max_tokens": 4_000, "thinking": ASKS[kind]},
        shape=desk.shape,
    )
    ground.llm.capability = replace(llm.capability)
    for _ in range(turns):
        go_on(ground, address, kind)
    return ground


def go_on(ground: Ground, address: str, kind: str) -> Answer:
    """One turn: the server answers what stands in the window, the results come in."""
    desk = ground.desk
    desk.turn += 1
    rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), desk.turn)
    llm = reached(address, kind)
    (answer,) = [item for item in llm.answer(rendered.request, Cancel()) if isinstance(item, Answer)]
    add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, answer.content)
    calls = [block["id"] for block in answer.content if block["type"] == "tool_use"]
    results = [gave(call, lines(call, 60)) for call in calls]
    add(ground, Role.USER, Author.TOOL, Kind.RESULTS, results)
    return answer


def thoughts(ground: Ground) -> list[bytes]:
    """The thinking that would be sent now."""
    messages = ground.request()["messages"]
    return [canonical(b) for m in messages for b in m["content"] if b["type"] == "thinking"]


def edit(ground: Ground, what: str) -> None:
    desk, window = ground.desk, ground.desk.window
    fifth = [entry.message.number for entry in window if entry.message.kind is Kind.ANSWER][4]
    match what:
        case "clear results":
            ground.take(ground.technique("clear_results").clear(Asked(keep=1)))
        case "clear thinking":
            ground.take(ground.technique("clear_thinking").clear(Asked(keep=0)))
        case "compact":
            ground.take(ground.technique("compact").compact(Asked(keep=2)))
        case "clear":
            ground.take(clear(desk, Asked(by="Ada")))
        case "pin and compact":
            ground.take(pin(desk, Asked(), fifth))
            ground.take(ground.technique("compact").compact(Asked(keep=2)))
        case "drop":
            ground.take(drop(desk, Asked(), fifth))
        case "undo":
            ground.take(ground.technique("compact").compact(Asked(keep=2)))
            made = of(WindowEdited, ground.events)[0].edit
            past = Past(
                before=made.before,
                made=((made.after, made.kind),),
                messages=tuple(desk.history.messages),  # type: ignore[attr-defined]
            )
            ground.take(undo(desk, Asked(), made.number, past))
    assert of(WindowEdited, ground.events) or what == "clear thinking"


EDITS = ("clear results", "clear thinking", "compact", "clear", "pin and compact", "drop", "undo")


@pytest.mark.parametrize("what", EDITS)
@pytest.mark.parametrize("kind", LLMS)
def test_after_every_edit_the_server_takes_what_is_sent(address: str, kind: str, what: str) -> None:
    ground = begun(address, kind)
    assert len(thoughts(ground)) >= 3
    edit(ground, what)
    go_on(ground, address, kind)
    go_on(ground, address, kind)


LEFT = {
    ("bound", "clear results"): 1,
    ("bound", "compact"): 0,
    ("bound", "drop"): 1,
    ("bound", "undo"): 3,
    ("bound", "clear thinking"): 3,
    ("adaptive", "clear results"): 3,
    ("adaptive", "compact"): 1,
    ("adaptive", "drop"): 2,
    ("manual", "clear results"): 9,
    ("manual", "compact"): 1,
    ("manual", "clear thinking"): 9,
}
"""Of the answers that were thought about: the first, fifth and ninth, on the manual llm all nine."""


@pytest.mark.parametrize(("kind", "what"), LEFT)
def test_what_stays_is_sent_byte_for_byte(address: str, kind: str, what: str) -> None:
    ground = begun(address, kind)
    before = thoughts(ground)
    edit(ground, what)
    after = thoughts(ground)
    assert len(after) == LEFT[kind, what]
    assert set(after) <= set(before)
    newest = ground.desk.window.entries[-2].message
    signed = [canonical(block) for block in newest.content if block["type"] == "thinking"]
    if kind != "bound":
        assert signed[0] in after


WRONG = {
    "altered": ("thinking", "I never thought that."),
    "signed by nobody": ("signature", "AAAA"),
    "unsigned": ("signature", ""),
}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("kind", LLMS)
def test_the_server_refuses_thinking_that_is_not_as_it_was(address: str, kind: str, how: str) -> None:
    ground = begun(address, kind, turns=2)
    desk, (key, value) = ground.desk, WRONG[how]
    rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 3)
    body = ground.request(3)
    block = next(b for m in body["messages"] for b in m["content"] if b["type"] == "thinking")
    block[key] = value
    spoiled = replace(rendered.request, body=canonical(body))
    with pytest.raises(BadRequest):
        list(reached(address, kind).answer(spoiled, Cancel()))


def test_an_llm_without_thinking_is_never_asked_for_it_and_takes_that_of_another(address: str) -> None:
    ground = begun(address, "adaptive", turns=2)
    desk = ground.desk
    desk.frame = desk.gauge.frame = frame_of(
        llm=LLMS["adaptive"], system="", tools=[TOOL], params={"max_tokens": 4_000}, shape=desk.shape
    )
    answer = go_on(ground, address, "adaptive")
    assert not any(block["type"] == "thinking" for block in answer.content)
