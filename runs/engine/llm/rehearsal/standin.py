"""The stand-in of the Messages API: one request in, one answer out. Both doors (in process, HTTP) lead here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from . import scripts
from .play import play
from .stream import PACES, typed
from .wire import ApiError, Asked, Invalid, Place, Reply, Said, once, place_of

JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream; charset=utf-8"}


class StandIn:
    """`pace` and `script` are what a request gets that names none (headers x-rehearsal-pace, x-rehearsal)."""

    def __init__(self, *, pace: str = "none", script: str = "") -> None:
        self.pace = pace
        self.script = script

    async def answer(self, asked: Asked) -> Reply:
        try:
            return await self._answer(asked)
        except ApiError as error:
            return Reply(status=error.status, headers={**JSON, **error.headers}, body=once(error.body()))

    async def _answer(self, asked: Asked) -> Reply:
        if (asked.method, asked.path) != ("POST", "/v1/messages"):
            raise ApiError(404, "not_found_error", f"{asked.method} {asked.path} is not there.")
        return self._message(_parsed(asked.body), asked.headers)

    def _message(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        place = place_of(body)
        said = play(scripts.get(self._script_of(body)), place, body["messages"])
        usage = {
            "input_tokens": len(json.dumps(body)) // 4,
            "output_tokens": len(json.dumps(said.content)) // 4,
        }
        pace = PACES[headers.get("x-rehearsal-pace", self.pace)]
        return Reply(status=200, headers=SSE, body=typed(said, _head(body, place, said, usage), usage, pace))

    def _script_of(self, body: Mapping[str, Any]) -> str:
        name = str(body["model"]).removeprefix("rehearsal").removeprefix("/").partition("+")[0]
        return name if name in scripts.names() else self.script


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Invalid("The request body is not valid JSON.") from error
    if not isinstance(parsed, dict):
        raise Invalid("The request body is not a JSON object.")
    return parsed


def _head(body: Mapping[str, Any], place: Place, said: Said, usage: Mapping[str, Any]) -> Mapping[str, Any]:
    name = hashlib.blake2b(f"{place}".encode(), digest_size=9).hexdigest()
    return {
        "id": f"msg_{place.turn:04d}{name}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
