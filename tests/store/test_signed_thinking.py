"""Signed thinking survives store and reload byte for byte: half a byte of difference, and the llm refuses the run."""

from __future__ import annotations

import json

import pytest

from runs.engine import events as ev
from runs.engine.messages import Author, Kind, Role, canonical, text
from runs.models import Run
from runs.store import resume
from tests.builders import Building, a_person

pytestmark = pytest.mark.django_db

SIGNED = {
    "plain": {"type": "thinking", "thinking": "First look.", "signature": "c2ln+/=="},
    "empty text": {"type": "thinking", "thinking": "", "signature": "c2lnLTE="},
    "lines and spaces": {"type": "thinking", "thinking": " a\r\n\tb \u00a0\u200b\n\n", "signature": "c2ln"},
    "many scripts": {
        "type": "thinking",
        "thinking": "你好 naïve cafe\u0301 👩‍🔬 \u202eback",
        "signature": "c2ln",
    },
    "keys nobody knows": {"type": "thinking", "thinking": "a", "signature": "c2ln", "estimated_tokens": 3},
    "redacted": {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ=" * 2000},
    "long": {"type": "thinking", "thinking": "word " * 50_000, "signature": "c2ln" * 4000},
}


@pytest.mark.parametrize("what", SIGNED)
def test_it_comes_back_as_it_was_signed(what: str) -> None:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    made.turn = 1
    blocks = [
        SIGNED[what],
        text("I look."),
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}},
    ]
    message = made._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, blocks)
    made._write(ev.NoticeGiven(turn=1, message=message))
    found = resume.standing(Run.objects.get(pk=made.run.pk).pk).messages[-1]
    assert canonical(list(found.content)) == canonical(blocks)
    assert json.dumps(found.content[0], sort_keys=True) == json.dumps(SIGNED[what], sort_keys=True)
