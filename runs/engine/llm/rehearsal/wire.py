"""What passes between a door of the stand-in (in process, HTTP) and the stand-in itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came in. Header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; its body is always streamed, piece by piece."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class ApiError(Exception):
    """An error the way the Messages API words it; `kind` is the `error.type`."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers or {}
        self.code = code

    def body(self) -> dict[str, Any]:
        error: dict[str, Any] = {"type": self.kind, "message": str(self)}
        if self.code:
            error["details"] = {"error_code": self.code}
        return {"type": "error", "error": error, "request_id": "req_rehearsal"}


class Invalid(ApiError):
    """400 invalid_request_error, with `details.error_code` where the API gives one."""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(400, "invalid_request_error", message, code=code)


class Reset(Exception):
    """The connection is to break here, as if the server had died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in which run a request belongs, from its `metadata.user_id`: "<slug>:<turn>[:summary]"."""

    slug: str
    turn: int
    summary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer before it is streamed. A tool call may carry `raw`: its input as text of any shape."""

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str
    stop_details: Mapping[str, Any] | None = field(default=None)


def place_of(body: Mapping[str, Any]) -> Place:
    """The place named in the metadata. Without one (another client) the turn is the number of answers so
    far + 1."""
    parts = str((body.get("metadata") or {}).get("user_id") or "").split(":")
    if len(parts) >= 2 and parts[1].isdigit():
        return Place(slug=parts[0], turn=int(parts[1]), summary=parts[-1] == "summary")
    answers = sum(1 for message in body["messages"] if message["role"] == "assistant")
    return Place(slug=parts[0], turn=answers + 1, summary=parts[-1] == "summary")


async def once(value: Mapping[str, Any]) -> AsyncIterator[bytes]:
    yield json.dumps(value).encode()
