"""From the API's errors to ours: which status means wait and try again, which needs a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import BadRequest, LlmTrouble, Overloaded, PromptTooLong, Rejected, StreamCut
from ..messages import clean

_TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|exceeds? (?:the )?(?:model'?s )?(?:maximum )?context|maximum context length"
    r"|context[_ ]length[_ ]exceeded|too many (?:input|total text) tokens",
    re.IGNORECASE,
)
"""As the API says it, and as other servers do that speak its language."""

TOO_LARGE = 413
OUR_MISTAKE = (
    "The llm's server calls the request invalid: a mistake of agentdash, or a rule it does not know. Nothing is lost, "
    "and the request is kept (window --request). Retry once that is mended; please report it."
)
_RETRIED = frozenset({408, 409, 429})
_A_PERSONS = frozenset({401, 402, 403, 404})
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": TOO_LARGE,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "api_error": 500,
    "timeout_error": 504,
}
_SHOULD_RETRY = {"true": True, "false": False}
_SENTENCE_MAX = 500


def from_status(status: int, body: object, headers: Mapping[str, str]) -> LlmTrouble:
    """The error for an answer that is not 200. `body` is the decoded JSON, or text where it was none."""
    trouble = _trouble(status, f"{status}: {_message(body)}", retry_after(headers))
    if (wanted := _SHOULD_RETRY.get(headers.get("x-should-retry", ""))) is not None:
        trouble.retry = wanted
    return trouble


def _trouble(status: int, message: str, wait: float | None = None) -> LlmTrouble:
    if status in _RETRIED or status >= 500:
        return Overloaded(message, status=status, retry_after=wait)
    if status in _A_PERSONS:
        return Rejected(message, status=status)
    if status == TOO_LARGE or _TOO_LONG.search(message):
        return PromptTooLong(message, status=status)
    return BadRequest(f"{message}. {OUR_MISTAKE}", status=status)


def from_stream(body: object) -> LlmTrouble:
    """The error for an SSE `error` event: the head said 200, so only its type tells what happened."""
    kind = _error(body).get("type")
    message = f"The stream broke off: {_message(body)}"
    status = _STATUS_OF_TYPE.get(str(kind), 0)
    return _trouble(status, message) if status else StreamCut(message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    return _seconds_until(value)


def _seconds_until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    return max(0.0, (then - datetime.now(UTC)).total_seconds()) if then.tzinfo else None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _error(body: object) -> Mapping[str, Any]:
    error = body.get("error") if isinstance(body, Mapping) else None
    return error if isinstance(error, Mapping) else {}


def _message(body: object) -> str:
    said = _error(body).get("message") or (body if isinstance(body, str) else "") or "no reason given"
    return str(clean(str(said)))[:_SENTENCE_MAX]
