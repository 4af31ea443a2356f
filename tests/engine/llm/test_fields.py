"""Which keys and kinds a request may have: the stand-in refuses everything else, as the Messages API does."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.llm.rehearsal.fields import check_supported
from runs.engine.llm.rehearsal.validate import validate
from runs.engine.llm.rehearsal.wire import Invalid

from .asking import TOOL, body
from .test_validate import BOUND, CALL, RESULT, TEXT, assistant, said, user


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"foo": 1}, "foo: Extra inputs are not permitted"),
        ({"temperature": 1.0}, "temperature: Extra inputs are not permitted"),
        ({"context_management": {}}, "context_management: Extra inputs are not permitted"),
        ({"model": None}, "model: Field required"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": "5"}, "max_tokens: Input should be a valid integer"),
        ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
        (
            {"max_tokens": 16_001},
            "max_tokens: 16001 > 16000, which is the maximum allowed number of output tokens for rehearsal",
        ),
        ({"messages": "hello"}, "messages: Input should be a valid list"),
        ({"messages": ["hello"]}, "messages.0: Input should be a valid dictionary"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
        (
            {"messages": [{"role": "user", "content": "x", "id": 1}]},
            "messages.0.id: Extra inputs are not permitted",
        ),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (
            {"messages": [user({**TEXT, "foo": 1})]},
            "messages.0.content.0.text.foo: Extra inputs are not permitted",
        ),
        ({"messages": [user({"type": "text"})]}, "messages.0.content.0.text.text: Field required"),
        ({"messages": [user({"text": "x"})]}, "messages.0.content.0.type: Field required"),
        (
            {"messages": [user({"type": "text", "text": 5})]},
            "messages.0.content.0.text.text: Input should be a valid string",
        ),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, "should match pattern"),
        ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
        ({"tools": [{"name": "a"}]}, "tools.0.custom.input_schema: Field required"),
        ({"tools": [{**TOOL, "foo": 1}]}, "tools.0.custom.foo: Extra inputs are not permitted"),
    ],
)
def test_keys_and_kinds_are_checked(changes: dict[str, Any], problem: str) -> None:
    given = body(**changes)
    with pytest.raises(Invalid) as caught:
        validate(given, BOUND)
    assert problem in str(caught.value)


def test_an_unknown_block_is_named_beside_the_known_ones() -> None:
    problem = said(user({"type": "x"}))
    found = "messages.0.content.0: Input tag 'x' found using 'type' does not match any of the expected tags: "
    assert problem.startswith(f"{found}'container_upload'")


@pytest.mark.parametrize("given", [[], "text", None])
def test_the_input_of_a_call_is_an_object(given: Any) -> None:
    problem = said(user(TEXT), assistant({**CALL, "input": given}), user(RESULT))
    assert problem == "messages.1.content.0.tool_use.input: Input should be a valid dictionary"


def test_ids_are_plain() -> None:
    problem = said(user(TEXT), assistant({**CALL, "id": "a b"}), user(RESULT))
    assert problem == "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


@pytest.mark.parametrize(
    ("key", "beta", "code"),
    [
        ("compaction", "compact-2026-09-04", "compaction_unavailable"),
        ("thread", "message-threads-2026-08-12", "thread_unsupported_request"),
        ("context_management", "context-management-2025-06-27", ""),
    ],
)
def test_what_the_api_does_on_its_own_side_is_said_to_be_missing(key: str, beta: str, code: str) -> None:
    given = body(**{key: {}})
    validate(given, BOUND, beta=f"other-beta,{beta}")
    with pytest.raises(Invalid) as caught:
        check_supported(given)
    assert caught.value.body()["error"].get("details", {}).get("error_code", "") == code
