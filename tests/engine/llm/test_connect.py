"""From a name to an llm: the rehearsal without a key, known llms from the table, unknown ones are asked about."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.errors import Rejected, Unreachable
from runs.engine.llm import UnknownLlm, capability, connect, table
from runs.engine.llm.connect import _thinking
from runs.engine.ports import Price

NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    "name", ["rehearsal", "rehearsal/hello", "rehearsal/job-60", "rehearsal/orders+429:2@3"]
)
def test_a_rehearsal_needs_no_key(name: str) -> None:
    connected = connect(name)
    assert connected.capability.llm == name
    assert connected.capability.price == table.price(2.0, 10.0)


@pytest.mark.parametrize("name", ["rehearsal/nothing", "claude-unheard-of", ""])
def test_an_unknown_llm_is_a_question_with_its_cure(name: str) -> None:
    with pytest.raises(UnknownLlm, match="Check the name, or set its context"):
        capability(name)


def test_without_key_and_server_the_cure_is_said() -> None:
    with pytest.raises(Rejected, match="ANTHROPIC_API_KEY"):
        connect("claude-sonnet-5-5")


def test_known_llms_are_known_without_their_server() -> None:
    known = connect("claude-sonnet-5-5", base_url=NOWHERE).capability
    assert (known.context, known.max_output, known.thinking) == (1_000_000, 128_000, "bound")


def test_when_only_a_silent_server_could_tell_that_is_the_trouble() -> None:
    with pytest.raises(Unreachable):
        connect("my-own-llm", base_url=NOWHERE)


def test_dated_names_are_the_same_llm() -> None:
    assert capability("claude-haiku-4-5-20251001").context == 200_000


def test_prices_follow_from_the_inputs_by_the_providers_factors() -> None:
    assert table.price(2.0, 10.0) == Price(
        input=2_000_000,
        output=10_000_000,
        cache_read=200_000,
        cache_write=2_500_000,
        cache_write_1h=4_000_000,
    )


def test_a_person_may_know_better() -> None:
    prices = {
        "my-own-llm": {
            "context": 32_000,
            "max_output": 4_000,
            "input": 1.0,
            "output": 2.0,
            "cache_read": 0.5,
        },
        "claude-sonnet-5-5": {"input": 1.0, "output": 5.0},
    }
    own = connect("my-own-llm", base_url=NOWHERE, prices=prices).capability
    assert (own.context, own.max_output) == (32_000, 4_000)
    assert own.price is not None
    assert (own.price.input, own.price.cache_read, own.price.cache_write) == (1_000_000, 500_000, 1_250_000)
    assert capability("claude-sonnet-5-5", prices).price == table.price(1.0, 5.0)


def test_every_llm_of_the_table_leaves_room_for_its_answer() -> None:
    for name in table.names():
        known = capability(name)
        assert 0 < known.max_output < known.context
        assert known.thinking in ("none", "manual", "adaptive", "bound")


SAID: dict[str, tuple[Any, str, str]] = {
    "nothing is said": (None, "adaptive", "adaptive"),
    "no thinking": ({"supported": False, "types": {}}, "bound", "none"),
    "only with a budget": ({"supported": True, "types": {"enabled": {"supported": True}}}, "none", "manual"),
    "adaptive, and known": (
        {"supported": True, "types": {"adaptive": {"supported": True}}},
        "adaptive",
        "adaptive",
    ),
    "adaptive, and bound": (
        {"supported": True, "types": {"adaptive": {"supported": True}}},
        "bound",
        "bound",
    ),
    "adaptive, and unknown": (
        {"supported": True, "types": {"adaptive": {"supported": True}}},
        "none",
        "bound",
    ),
    "of a type we do not ask for": (
        {"supported": True, "types": {"between_tools": {"supported": True}}},
        "none",
        "none",
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_how_an_llm_thinks_is_what_its_server_says_else_what_the_table_knows(what: str) -> None:
    said, known, found = SAID[what]
    told = {"thinking": said} if said else None
    assert _thinking(told, known) == found
