"""What these tests share: bodies of requests, an llm over the in-process stand-in, one answer collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runs.engine.events import Delta
from runs.engine.llm import table
from runs.engine.llm.claude import Claude, make_client
from runs.engine.llm.rehearsal.standin import StandIn
from runs.engine.llm.rehearsal.transport import InProcess
from runs.engine.messages import canonical, sha256
from runs.engine.ports import Answer, Cancel, Request

TOOL = {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}}


def body(**changes: Any) -> dict[str, Any]:
    """A request of turn 1 of the run r-test, playing `hello`."""
    whole = {
        "model": "rehearsal/hello",
        "max_tokens": 4_000,
        "stream": True,
        "metadata": {"user_id": "r-test:1"},
        "messages": [{"role": "user", "content": "Write a program that greets."}],
        "tools": [TOOL],
    }
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def request(**changes: Any) -> Request:
    data = canonical(body(**changes))
    return Request(body=data, sha256=sha256(data), turn=1)


def stand_in(*, keep: int = 0) -> StandIn:
    return StandIn(pace="none", keep=keep)


def llm(standin: StandIn | None = None, *, quiet_s: float = 30.0, name: str = "rehearsal") -> Claude:
    """The real SDK client over a stand-in of its own, so that no test meets another's faults or cache."""
    client = make_client(base_url="http://rehearsal", transport=InProcess(standin or stand_in()))
    return Claude(replace(table.REHEARSAL, llm=name), client, quiet_s=quiet_s)


def ask(llm: Claude, **changes: Any) -> Answer:
    """The one answer to a request; its deltas are dropped."""
    answers = [item for item in llm.answer(request(**changes), Cancel()) if isinstance(item, Answer)]
    assert len(answers) == 1
    return answers[0]


def typed(llm: Claude, heard: Callable[[Delta], None], **changes: Any) -> None:
    """Hear the deltas of a request, whatever becomes of it."""
    for item in llm.answer(request(**changes), Cancel()):
        if isinstance(item, Delta):
            heard(item)
