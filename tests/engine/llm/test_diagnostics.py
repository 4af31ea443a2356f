"""The provider is asked why its cache missed, where it can say so; the hash of a request knows nothing of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import pytest

from runs.engine.errors import BadRequest
from runs.engine.llm import table
from runs.engine.llm.claude import Claude, make_client
from runs.engine.llm.rehearsal.stream import event
from runs.engine.ports import Answer, Cancel

from .asking import request

MISS = {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 4200}}
SENT = request(model="claude-sonnet-5-5")


@dataclass(slots=True)
class Provider(httpx2.AsyncBaseTransport):
    """Answers with its diagnosis, or refuses the question (or everything) as a server that does not know it."""

    knows: bool = True
    refuses: str = "diagnostics: Extra inputs are not permitted"
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    async def handle_async_request(self, asked: httpx2.Request) -> httpx2.Response:
        self.raw.append(await asked.aread())
        self.bodies.append(json.loads(self.raw[-1]))
        if "diagnostics" in self.bodies[-1] and not self.knows:
            error = {"type": "invalid_request_error", "message": self.refuses}
            return httpx2.Response(400, json={"type": "error", "error": error})
        head = {"id": "msg_2", "usage": {"input_tokens": 9_000}}
        told = {"diagnostics": MISS} if "diagnostics" in self.bodies[-1] else {}
        events = [
            {"type": "message_start", "message": head | told},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ]
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=b"".join(map(event, events)))


def asked(provider: Provider, *, after: str = "msg_1", diagnoses: bool = True, times: int = 1) -> Answer:
    client = make_client(base_url="http://provider", transport=provider)
    llm = Claude(table.REHEARSAL, client, diagnoses=diagnoses)
    for _ in range(times):
        found = [
            item for item in llm.answer(replace(SENT, after=after), Cancel()) if isinstance(item, Answer)
        ]
    return found[0]


def test_its_word_comes_with_the_answer_and_the_rest_is_what_was_hashed() -> None:
    provider = Provider()
    answer = asked(provider)
    assert answer.cache_miss == "the system prompt changed, the provider says: 4,200 tokens"
    assert answer.id == "msg_2"
    assert provider.bodies[0].pop("diagnostics") == {"previous_message_id": "msg_1"}
    assert provider.bodies[0] == json.loads(SENT.body)


@pytest.mark.parametrize(("after", "diagnoses"), [("", True), ("msg_1", False)])
def test_where_nothing_came_before_or_the_server_cannot_say_the_body_is_sent_as_it_is(
    after: str, diagnoses: bool
) -> None:
    provider = Provider()
    assert asked(provider, after=after, diagnoses=diagnoses).cache_miss == ""
    assert provider.raw == [SENT.body]


def test_a_server_that_refuses_the_question_is_not_asked_again_and_answers_all_the_same() -> None:
    provider = Provider(knows=False)
    assert asked(provider, times=3).stop_reason == "end_turn"
    assert ["diagnostics" in body for body in provider.bodies] == [True, False, False, False]


def test_another_refusal_is_a_refusal() -> None:
    with pytest.raises(BadRequest, match="messages: at least one"):
        asked(Provider(knows=False, refuses="messages: at least one message is required"))
