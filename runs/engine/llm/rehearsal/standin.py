"""The stand-in of the Messages API: one request in, one answer out. Both doors (in process, HTTP) lead here.

Beside the API it understands two headers: `x-rehearsal` (a script with faults: personality.py) and
`x-rehearsal-pace` (human, fast, none).
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...ports import Capability
from .. import table
from . import count, faults, rewrite, scripts, thinking
from .cache import PrefixCache
from .count import Element
from .fields import check_supported
from .personality import STREAM, WIRE, Fault, Personality, Tries, acting, parse, refuse
from .play import play
from .stream import PACES, Pace, typed, whole
from .summarise import summarise
from .validate import Rules, validate
from .wire import ApiError, Asked, Invalid, Place, Reply, Said, once, place_of

JSON = {"content-type": "application/json", "request-id": "req_rehearsal"}
SSE = {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_rehearsal"}
MOST_BYTES = 32 * 1024 * 1024
_GOES_ON: Mapping[str, Any] = {"type": "thinking", "thinking": "I go on."}
_MODEL = re.compile(r"/v1/models/(?P<llm>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """Everything about one request for a message."""

    body: Mapping[str, Any]
    place: Place
    elements: Sequence[Element]
    rules: Rules
    personality: Personality
    pace: Pace


class StandIn:
    """`pace` and `script` are what a request gets that names none. `cpu_s` sums the work done here.

    `requests` keeps the last bodies, newest last, for whoever wants to compare them with what was meant.
    """

    def __init__(self, *, pace: str = "none", script: str = "", keep: int = 0) -> None:
        self.pace = pace
        self.script = script
        self.cpu_s = 0.0
        self.requests: list[bytes] = []
        self._keep = keep
        self._cache = PrefixCache()
        self._tries = Tries()

    async def answer(self, asked: Asked) -> Reply:
        started = time.thread_time()
        try:
            return self._answer(asked)
        except ApiError as error:
            return Reply(status=error.status, headers={**JSON, **error.headers}, body=once(error.body()))
        finally:
            self.cpu_s += time.thread_time() - started

    def _answer(self, asked: Asked) -> Reply:
        model = _MODEL.fullmatch(asked.path)
        match (asked.method, asked.path):
            case ("POST", "/v1/messages"):
                return self._message(asked)
            case ("POST", "/v1/messages/count_tokens"):
                return self._count(asked)
            case ("GET", _) if model:
                return Reply(status=200, headers=JSON, body=once(_model_info(model["llm"])))
        raise ApiError(404, "not_found_error", f"{asked.method} {asked.path} is not there.")

    def _message(self, asked: Asked) -> Reply:
        if len(asked.body) > MOST_BYTES:
            raise ApiError(413, "request_too_large", "Request exceeds the maximum size")
        body = _parsed(asked.body)
        if self._keep:
            self.requests = [*self.requests[1 - self._keep :], asked.body]
        turn = self._turn(body, asked.headers)
        fault = acting(turn.personality, turn.place, self._tries)
        if fault:
            refuse(fault)
        said = self._said(turn, fault)
        return self._reply(turn, said, fault)

    def _turn(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> _Turn:
        """The request, checked and counted. Raises Invalid."""
        rules = _rules(str(body.get("model", "")))
        validate(body, rules, beta=headers.get("anthropic-beta", ""))
        check_supported(body)
        elements = count.elements(body)
        total, most = sum(element.tokens for element in elements), _known(rules.llm).context
        if total > most:
            raise Invalid(f"prompt is too long: {total} tokens > {most} maximum")
        return _Turn(
            body=body,
            place=place_of(body),
            elements=elements,
            rules=rules,
            personality=self._personality(rules.llm, headers),
            pace=PACES.get(headers.get("x-rehearsal-pace", ""), PACES[self.pace]),
        )

    def _personality(self, llm: str, headers: Mapping[str, str]) -> Personality:
        """From the header, the llm's name, or what this server was started with."""
        for name in (headers.get("x-rehearsal", ""), llm, self.script):
            found = parse(name) if name else Personality(script="")
            if scripts.known(found.script) or (found.faults and not found.script):
                return found
        return Personality(script="")

    def _said(self, turn: _Turn, fault: Fault | None) -> Said:
        body = turn.body
        if any(block["type"] == "thinking" for block in _blocks(turn.elements)):
            asked = body.get("thinking") or {}
            drops = (asked.get("block_binding") or {}).get("prefix_mismatch_behavior") == "drop_block"
            thinking.check(body, bound=turn.rules.thinking == "bound" and not drops)
        if turn.place.summary:
            said = Said(content=({"type": "text", "text": summarise(body)},), stop_reason="end_turn")
        else:
            said = play(scripts.get(turn.personality.script), turn.place, body["messages"])
        said = faults.spoil(fault, said) if fault else said
        return _signed(_thought(said, body), body)

    def _reply(self, turn: _Turn, said: Said, fault: Fault | None) -> Reply:
        output = sum(count.block(block) for block in said.content)
        room = turn.body["max_tokens"]
        if output > room and fault is None:
            said, output = faults.cut_short(said), room
        usage = self._cache.account(turn.body, turn.elements).usage()
        thought = sum(count.block(block) for block in said.content if block["type"] == "thinking")
        usage |= {"output_tokens": output, "output_tokens_details": {"thinking_tokens": thought}}
        head = _head(turn.body, turn.place, usage)
        if not turn.body.get("stream"):
            return Reply(status=200, headers=JSON, body=once(whole(said, head, usage)))
        return Reply(status=200, headers=SSE, body=_wired(fault, typed(said, head, usage, turn.pace)))

    def _count(self, asked: Asked) -> Reply:
        body = {"max_tokens": 1, **_parsed(asked.body)}
        validate(body, _rules(str(body.get("model", ""))), beta=asked.headers.get("anthropic-beta", ""))
        return Reply(status=200, headers=JSON, body=once({"input_tokens": count.total(body)}))


def _wired(fault: Fault | None, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if fault and fault.name.removeprefix("summary_") in STREAM:
        return faults.disturb(fault, events)
    if fault and fault.name in WIRE:
        return rewrite.rewritten(fault.name, events)
    return events


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Invalid("The request body is not valid JSON.") from error
    if not isinstance(parsed, dict):
        raise Invalid("The request body is not a JSON object.")
    return parsed


def _known(llm: str) -> Capability:
    """Any llm may be asked for: a name nobody knows is played like the rehearsal's own."""
    return table.find(llm) or table.REHEARSAL


def _rules(llm: str) -> Rules:
    known = _known(llm)
    return Rules(llm=llm, max_output=known.max_output, thinking=known.thinking)


def _blocks(elements: Sequence[Element]) -> list[Mapping[str, Any]]:
    return [element.value for element in elements if element.layer not in ("tools", "system")]


def _thought(said: Said, body: Mapping[str, Any]) -> Said:
    """Thinking is shown only when it was asked for; where it is `enabled`, an answer that calls begins with it."""
    asked = (body.get("thinking") or {}).get("type")
    if asked == "enabled" and any(block["type"] == "tool_use" for block in said.content):
        thinks = said.content[0]["type"] == "thinking"
        content = said.content if thinks else (_GOES_ON, *said.content)
        return Said(content=content, stop_reason=said.stop_reason, stop_details=said.stop_details)
    if asked in ("adaptive", "enabled"):
        return said
    kept = tuple(block for block in said.content if block["type"] != "thinking")
    return Said(content=kept, stop_reason=said.stop_reason, stop_details=said.stop_details)


def _signed(said: Said, body: Mapping[str, Any]) -> Said:
    if not any(block["type"] == "thinking" for block in said.content):
        return said
    prefix = thinking.prefix_of(body)
    content = tuple(
        {**block, "signature": thinking.sign(block["thinking"], prefix)}
        if block["type"] == "thinking" and not block.get("unsigned")
        else block
        for block in said.content
    )
    return Said(content=content, stop_reason=said.stop_reason, stop_details=said.stop_details)


def _head(body: Mapping[str, Any], place: Place, usage: Mapping[str, Any]) -> Mapping[str, Any]:
    name = hashlib.blake2b(f"{place}".encode(), digest_size=9).hexdigest()
    return {
        "id": f"msg_{place.turn:04d}{name}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": {**usage, "output_tokens": 1},
    }


def _model_info(llm: str) -> Mapping[str, Any]:
    known = _known(llm)
    return {
        "id": llm,
        "type": "model",
        "display_name": f"{llm} (rehearsal)",
        "created_at": "2026-11-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": known.context,
        "max_tokens": known.max_output,
        "capabilities": {"thinking": _thinking_of(known.thinking)},
    }


def _thinking_of(kind: str) -> Mapping[str, Any]:
    """As `/v1/models` tells it: which types of thinking a request may ask for."""
    can = {"adaptive": kind in ("adaptive", "bound"), "enabled": kind in ("manual", "adaptive")}
    types = {name: {"supported": supported} for name, supported in can.items()}
    return {"supported": kind != "none", "types": types}
