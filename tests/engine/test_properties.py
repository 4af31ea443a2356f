"""Summaries over random histories: what is asked is valid and fits, and a summariser that fails costs nothing.

Whole chains of edits are in test_fuzz.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runs.engine.middleware.base import Asked
from tests.cases.ground import Ground
from tests.cases.refusals import refused

from .histories import histories
from .stage import laid

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
THINKING = st.sampled_from(["none", "manual", "adaptive", "bound"])
MANY = settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@MANY
@given(histories(), THINKING)
def test_summaries_are_asked_with_a_valid_request_that_fits(
    spoken: list[dict[str, Any]], thinking: str
) -> None:
    ground: Ground = laid(spoken, thinking=thinking, replies=["Short."], episode={"tokens": 200})
    ground.take(ground.technique("compact").compact(Asked(keep=0)))
    for request in ground.llm.asked:
        assert refused(json.loads(request.body)) == []


@MANY
@given(histories(), st.lists(st.sampled_from(["ok", "trouble"]), max_size=4))
def test_a_summariser_that_may_fail_never_costs_a_message(
    spoken: list[dict[str, Any]], luck: list[str]
) -> None:
    ground = laid(spoken, replies=["Short."])
    goal = ground.request()["messages"][0]["content"][0]["text"]
    for word in luck:
        ground.llm.error = {"error": "overloaded"} if word == "trouble" else None
        ground.take(ground.technique("compact").compact(Asked()))
    assert ground.request()["messages"][0]["content"][0]["text"] == goal
