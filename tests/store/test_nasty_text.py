"""Text that databases, JSON or the API choke on goes in cleaned, once, and comes out byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.engine import events as ev
from runs.engine.messages import MAX_DEPTH, Author, Kind, Message, Role, canonical, clean, sha256, text
from runs.models import Event
from runs.models import Message as Row
from runs.store import archive, blobs, windows
from tests.builders import Building, a_person

pytestmark = pytest.mark.django_db

NASTY = [
    "".join(map(chr, range(0x10000))),
    "\x00\x01\x1b[31m\x7f\u0085\u2028\u2029\ufeff",
    "lone \ud83d and \udc00 surrogates",
    "\u202eright to left\u202c, zero\u200bwidth, \U000e0041 tags",
    "x" * 1_000_000,
    "line\r\nend\rends\n",
    "<script>alert(1)</script> & \"quotes\" 'n' \\ /",
    "𝄞 clef, 👩‍👩‍👧 family, e\u0301 combined",
]


def stored(content: Any) -> Any:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    message = Message(
        number=2, role=Role.USER, author=Author.PERSON, kind=Kind.SAY, turn=1, content=tuple(content)
    )
    archive.append(made.claim, ev.Said(turn=1, message=message))
    return list(windows.one_message(made.run.pk, 2).content)


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_text_comes_back_as_it_was_cleaned(nasty: str) -> None:
    content = clean([text(nasty), {"type": "tool_result", "tool_use_id": "t", "content": nasty * 2}])
    assert stored(content) == content
    row = Row.objects.get(number=2)
    assert row.blob_id == sha256(canonical(content))
    assert blobs.damage(row.blob_id) == ""


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_cleaned_is_json_that_every_database_takes(value: Any) -> None:
    cleaned = clean(value)
    raw = canonical(cleaned)
    assert b"\\u0000" not in raw
    assert canonical(json.loads(raw)) == raw
    assert clean(cleaned) == cleaned
    assert blobs.of_value(cleaned).sha256 == sha256(raw)


def test_bottomless_nesting_is_cut() -> None:
    deep: Any = "bottom"
    for _ in range(20_000):
        deep = [deep]
    cleaned = clean(deep)
    assert canonical(cleaned).count(b"[") == MAX_DEPTH + 2
    assert stored([{"type": "tool_use", "id": "t", "name": "n", "input": {"deep": cleaned}}])


def test_numbers_that_json_lacks_become_text() -> None:
    assert clean({"a": float("nan"), "b": [float("inf"), 1.5]}) == {"a": "nan", "b": ["inf", 1.5]}


def test_a_number_is_written_as_every_database_writes_it() -> None:
    assert (
        canonical(clean([-0.0, 1e16, -1e22, 1.0, 1e-7]))
        == b"[0.0,10000000000000000,-10000000000000000000000,1.0,1e-07]"
    )


def test_reasons_and_names_in_events_are_cleaned_on_the_way_in() -> None:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    archive.append(made.claim, ev.Recalled(turn=1, query="nul \x00 and \ud800", hits=0))
    assert Event.objects.get(kind="recall.asked").data == {"query": "nul ␀ and \ufffd", "hits": 0}


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert clean("\ud83d\ude00") == "😀"
