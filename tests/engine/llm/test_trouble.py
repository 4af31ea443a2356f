"""From the API's errors to ours: what is tried again, what needs a person, what makes the window smaller."""

from __future__ import annotations

import pytest

from runs.engine.errors import BadRequest, LlmTrouble, Overloaded, PromptTooLong, Rejected, StreamCut
from runs.engine.llm.trouble import from_status, from_stream


def body(message: str, kind: str = "invalid_request_error") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 208310 tokens > 200000 maximum",
        "Prompt is too long",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
        "Input is too long for requested model.",
        "This model's maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens.",
        "Your input exceeds the context window of this model.",
        "the request exceeds the model's maximum context length",
        "context_length_exceeded",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9279",
    ],
)
def test_a_prompt_that_is_too_long_is_known_by_each_of_its_sentences(message: str) -> None:
    assert isinstance(from_status(400, body(message), {}), PromptTooLong)
    assert isinstance(from_stream(body(message)), PromptTooLong)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5",
        "messages.3.content.0: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "tools: Tool names must be unique.",
        "context_management: Extra inputs are not permitted",
    ],
)
def test_other_mistakes_are_no_question_of_length(message: str) -> None:
    assert type(from_status(400, body(message), {})) is BadRequest


STREAMED = {
    "overloaded_error": (Overloaded, True),
    "api_error": (Overloaded, True),
    "rate_limit_error": (Overloaded, True),
    "timeout_error": (Overloaded, True),
    "invalid_request_error": (BadRequest, False),
    "request_too_large": (PromptTooLong, False),
    "authentication_error": (Rejected, False),
    "permission_error": (Rejected, False),
    "billing_error": (Rejected, False),
    "not_found_error": (Rejected, False),
    "brand_new_error": (StreamCut, True),
}


@pytest.mark.parametrize("kind", STREAMED)
def test_an_error_within_the_stream_is_the_error_that_its_type_names(kind: str) -> None:
    trouble = from_stream(body("It went wrong.", kind))
    wanted, again = STREAMED[kind]
    assert type(trouble) is wanted
    assert trouble.retry is again
    assert "It went wrong." in str(trouble)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_the_servers_word_on_trying_again_counts(status: int) -> None:
    def asked(**headers: str) -> LlmTrouble:
        return from_status(
            status, body("no"), {key.replace("_", "-"): value for key, value in headers.items()}
        )

    assert asked(x_should_retry="true").retry is True
    assert asked(x_should_retry="false").retry is False
    assert asked(x_should_retry="perhaps").retry is asked().retry
