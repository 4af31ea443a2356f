"""Why the cache read less than it could."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runs.engine.caching import MOST_CHARS, TTL_MS, Sent, told, why
from runs.engine.events import Form, Frame, Usage
from runs.engine.window.render import frame_of, roomier
from runs.engine.window.versions import Entry

from .stage import laid, talk

DESK = laid(talk(4)).desk
SHOWN = DESK.window.entries
FELL = Usage(cache_read=100, cache_write=9_000)


def sent(**changes: Any) -> Sent:
    usual = Sent(frame=DESK.frame, version=1, entries=SHOWN, prompt=8_000, at_ms=1_000)
    return replace(usual, **changes)


def frame(**changes: Any) -> Frame:
    return replace(DESK.frame, **changes)


def with_form(at: int, form: Form) -> tuple[Entry, ...]:
    return (*SHOWN[:at], replace(SHOWN[at], form=form), *SHOWN[at + 1 :])


def test_the_first_request_has_nothing_to_miss() -> None:
    assert why(None, sent(), FELL) == ""


@pytest.mark.parametrize("usage", [Usage(cache_read=7_300, cache_write=900), Usage(input=2_000)])
def test_what_was_read_as_far_as_it_could_be_is_no_miss(usage: Usage) -> None:
    assert why(sent(), sent(frame=frame(llm="other")), usage) == ""


@pytest.mark.parametrize(
    ("now", "told_as"),
    [
        (sent(frame=frame(llm="other")), "the llm changed"),
        (sent(frame=frame(tools=())), "the tools changed"),
        (sent(frame=frame(system=({"type": "text", "text": "Be brief."},))), "the system prompt changed"),
        (sent(frame=frame(llm="other", tools=())), "the llm changed"),
        (sent(frame=frame(tools=(), system=())), "the tools changed"),
        (sent(version=2, entries=with_form(2, Form.CLEARED)), "message 3 (turn 1) is cleared now"),
        (sent(version=2, entries=with_form(4, Form.PREVIEW)), "message 5 (turn 2) is a preview now"),
        (
            sent(version=2, entries=(SHOWN[0], *SHOWN[4:])),
            "message 2 (turn 1) stands elsewhere or not at all",
        ),
        (sent(version=2, entries=SHOWN[:3]), "message 4 (turn 2) stands elsewhere or not at all"),
        (sent(at_ms=1_000 + TTL_MS + 120_000), "expired: 7 minutes had passed"),
        (sent(at_ms=1_000 + TTL_MS), "nothing changed: the provider had no entry left"),
    ],
)
def test_the_part_that_changed_first_is_named(now: Sent, told_as: str) -> None:
    found = why(sent(), now, FELL)
    assert told_as in found
    assert len(found) <= MOST_CHARS


def test_thinking_that_is_switched_changes_the_messages() -> None:
    params = {
        **DESK.frame.params,
        "request": {**DESK.frame.params["request"], "thinking": {"type": "adaptive"}},
    }
    assert why(sent(), sent(frame=frame(params=params)), FELL) == "the thinking parameters changed"


def test_more_tokens_for_the_answer_change_nothing_that_is_cached() -> None:
    made = frame_of(llm="x", system="s", tools=DESK.frame.tools, params={"max_tokens": 5}, shape=DESK.shape)
    now = sent(frame=roomier(made, 10))
    assert why(sent(frame=made), now, FELL).startswith("nothing changed")


def test_a_frame_that_was_read_back_is_the_same_frame() -> None:
    read = frame(tools=[dict(tool) for tool in DESK.frame.tools], system=list(DESK.frame.system))
    assert why(sent(frame=read), sent(), FELL).startswith("nothing changed")


def test_an_edit_by_another_worker_is_an_edit() -> None:
    assert why(sent(entries=()), sent(version=2), FELL) == "the window was edited"


def test_when_nobody_knows_the_time_nothing_is_said_of_it() -> None:
    assert why(sent(at_ms=0), sent(at_ms=10 * TTL_MS), FELL).startswith("nothing changed")


def test_the_providers_word_comes_first() -> None:
    assert (
        why(sent(), sent(frame=frame(tools=())), FELL, "the system prompt changed")
        == "the system prompt changed"
    )


@pytest.mark.parametrize(
    ("diagnostics", "words"),
    [
        (None, ""),
        ("?", ""),
        ({"cache_miss_reason": None}, ""),
        ({"cache_miss_reason": {"type": "unavailable"}}, ""),
        ({"cache_miss_reason": {"type": "previous_message_not_found"}}, ""),
        (
            {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 4200}},
            "the tools changed, the provider says: 4,200 tokens",
        ),
        (
            {"cache_miss_reason": {"type": "model_changed", "cache_missed_input_tokens": None}},
            "the llm changed",
        ),
    ],
)
def test_what_the_api_says_is_read(diagnostics: object, words: str) -> None:
    assert told(diagnostics) == words
