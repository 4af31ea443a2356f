"""The Messages API through the provider's own SDK: the only file that imports it.

The request's bytes are posted exactly as they are (what was hashed is what is sent, but for the question why the
cache missed), the raw events are put together by our accumulator, and the SDK's own retries are off: whether to
try again is the loop's decision, and visible.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
import re
import time
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import httpx2
from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic, AsyncStream

from ..errors import Cancelled, LlmTrouble, Overloaded, StreamCut, Unreachable
from ..events import Delta
from ..messages import canonical
from ..ports import Answer, Cancel, Capability, Request
from . import background, sse, trouble
from .accumulate import Accumulator
from .handover import Handover, Item

logging.getLogger("anthropic").setLevel(logging.WARNING)
logging.getLogger("httpx2").setLevel(logging.WARNING)

BYTES_A_TOKEN, LEAST_BYTES = 4, 4_000
"""An answer that weighs more than its max_tokens can is a fault of the server. Source: the house's rules for bad llms;
a few tokens may be long words, hence the least."""

QUIET_S = 120.0
"""Seconds between two events after which a stream counts as dead; the API sends pings far more often."""

_RENEWED = 0.01
"""Of that time: how long an event may count for the next ones too."""

_END_S = 0.5
"""Seconds for a stream to end after its answer has."""

CONNECT_S = 5.0
_ASK_S = 10.0
_DIAGNOSTICS = "diagnostics"
_COUNTED_KEYS = ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config")
_MAX_TOKENS = re.compile(rb'"max_tokens":(\d{1,9})')
_HEAD = 4096
"""Bytes of a body within which max_tokens stands: keys are sorted, so it comes before the messages."""

Client = AsyncAnthropic


@cache
def client(
    key: str, auth_token: str, base_url: str, headers: tuple[tuple[str, str], ...] = ()
) -> AsyncAnthropic:
    """One client, and with it one pool of connections, for each server and key of this process."""
    return make_client(key=key, auth_token=auth_token, base_url=base_url, headers=dict(headers))


def make_client(
    *,
    key: str = "",
    auth_token: str = "",
    base_url: str = "",
    headers: dict[str, str] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> AsyncAnthropic:
    """A client that reads nothing from the environment and never retries by itself."""
    timeout = httpx2.Timeout(QUIET_S, connect=CONNECT_S)
    given: dict[str, Any] = {"auth_token": auth_token} if auth_token else {"api_key": key or "none"}
    if transport is not None:
        given["http_client"] = httpx2.AsyncClient(transport=transport, base_url=base_url, timeout=timeout)
    return AsyncAnthropic(
        **given,
        base_url=base_url or "https://api.anthropic.com",
        timeout=timeout,
        max_retries=0,
        default_headers=headers,
    )


class Claude:
    """An llm behind the Messages API. Usable from any thread; each answer is a task on the loop."""

    def __init__(
        self,
        capability: Capability,
        client: AsyncAnthropic,
        *,
        quiet_s: float = QUIET_S,
        diagnoses: bool = False,
    ) -> None:
        """`diagnoses`: the server can say why its cache missed, and is asked until it refuses to."""
        self.capability = capability
        self._client = client
        self._quiet_s = quiet_s
        self._diagnoses = diagnoses

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        """Stream one answer: deltas, then exactly one Answer. Raises LlmTrouble, Cancelled.

        However the caller leaves (at the end, by an error, by closing the generator), the request is over.
        """
        items: queue.SimpleQueue[Item] = queue.SimpleQueue()
        got, whole = Accumulator(request.turn, self._max_bytes(request)), False
        work = self._stream(request, got, Handover(items))
        future = asyncio.run_coroutine_threadsafe(work, background.loop())

        def stop() -> None:
            items.put(Cancelled(cancel.reason))
            future.cancel()

        forget = cancel.on_cancel(stop)
        try:
            for item in self._received(items, cancel):
                whole = isinstance(item, Answer)
                yield item
        except (LlmTrouble, Cancelled) as error:
            error.paid = got.usage
            raise
        finally:
            forget()
            if not whole:
                future.cancel()

    @staticmethod
    def _received(items: queue.SimpleQueue[Item], cancel: Cancel) -> Iterator[Delta | Answer]:
        while True:
            item = items.get()
            if isinstance(item, BaseException):
                raise item
            if cancel.reason:
                raise Cancelled(cancel.reason)
            yield item
            if isinstance(item, Answer):
                return

    async def _stream(self, request: Request, got: Accumulator, over: Handover) -> None:
        try:
            over.ended(await self._exchange(request, got, over))
        except asyncio.CancelledError:
            over.ended(Cancelled("cancelled"))
            raise
        except Exception as error:
            over.ended(_ours(error))

    async def _exchange(self, request: Request, got: Accumulator, over: Handover) -> Answer:
        start = time.monotonic()
        first = 0.0
        async with asyncio.timeout(self._quiet_s + CONNECT_S) as patience:
            stream = await self._open(request)
            now = asyncio.get_running_loop().time
            heard = now()
            patience.reschedule(heard + self._quiet_s)
            async with stream:
                events = _events(stream.response)
                async for data in events:
                    if now() - heard > _RENEWED * self._quiet_s:
                        heard = now()
                        patience.reschedule(heard + self._quiet_s)
                    delta = got.feed(data) if data else None
                    if delta is not None:
                        first = first or time.monotonic()
                        over.typed(delta)
                    if got.done:
                        break
                await _to_its_end(events)
        content = got.content()
        end = time.monotonic()
        return Answer(
            content=content,
            stop_reason=got.stop_reason,
            usage=got.usage,
            first_token_ms=round(((first or end) - start) * 1000),
            ms=round((end - start) * 1000),
            cut_call=got.cut_call,
            cache_miss=got.cache_miss,
            id=got.id,
            raw=got.raw,
        )

    async def _open(self, request: Request) -> AsyncStream[object]:
        if self._diagnoses and request.after:
            try:
                return await self._post(_diagnosed(request))
            except APIStatusError as error:
                if error.status_code != 400 or _DIAGNOSTICS not in str(error):
                    raise
                self._diagnoses = False
        return await self._post(request.body)

    async def _post(self, body: bytes) -> AsyncStream[object]:
        return await self._client.post(
            "/v1/messages", content=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
        )

    def _max_bytes(self, request: Request) -> int:
        found = _MAX_TOKENS.search(request.body[:_HEAD])
        return max(LEAST_BYTES, BYTES_A_TOKEN * (int(found[1]) if found else self.capability.max_output))

    def count(self, request: Request) -> int | None:
        """Tokens by the provider's count_tokens; None when it cannot or will not say."""
        body = json.loads(request.body)
        asked = {key: body[key] for key in _COUNTED_KEYS if key in body}
        try:
            told = background.wait(self._ask("/v1/messages/count_tokens", asked), _ASK_S)
        except (LlmTrouble, TimeoutError):
            return None
        tokens = told.get("input_tokens")
        return tokens if isinstance(tokens, int) else None

    async def _ask(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            told = await self._client.post(path, body=asked, cast_to=object)
        except Exception as error:
            raise _ours(error) from error
        return told if isinstance(told, dict) else {}


def _diagnosed(request: Request) -> bytes:
    """The body with the question after the cache: the first key, as keys are sorted, and no part of what is hashed."""
    question = canonical({_DIAGNOSTICS: {"previous_message_id": request.after}})
    return question[:-1] + b"," + request.body[1:]


async def _to_its_end(events: AsyncIterator[object]) -> None:
    """The answer is whole: what may still come tells nothing, but only a stream that has ended leaves its connection
    to the next request."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_END_S):
            async for _ in events:
                pass


async def _events(response: httpx2.Response) -> AsyncIterator[str]:
    """The data of its events. The SDK's own reader goes through three generators for each, and gives an answer up whose
    bytes are not all UTF-8."""
    reader = sse.Reader()
    async for piece in response.aiter_bytes():
        for data in reader.feed(piece):
            yield data


def about(client: AsyncAnthropic, llm: str) -> dict[str, Any]:
    """What the server says of an llm (`/v1/models/{id}`). Raises LlmTrouble; Rejected when it knows no such
    llm."""
    return background.wait(_about(client, llm), _ASK_S + CONNECT_S)


async def _about(client: AsyncAnthropic, llm: str) -> dict[str, Any]:
    try:
        async with asyncio.timeout(_ASK_S):
            return (await client.models.retrieve(llm)).model_dump()
    except Exception as error:
        raise _ours(error) from error


def _ours(error: Exception) -> Exception:
    """Whatever went wrong between us and the server, as the trouble the loop knows; our own faults as they
    are."""
    match error:
        case LlmTrouble():
            return error
        case APIStatusError():
            return trouble.from_status(error.status_code, error.body, error.response.headers)
        case APIConnectionError() if isinstance(error.__cause__, httpx2.ReadTimeout | httpx2.PoolTimeout):
            return Overloaded("The llm's server took too long to answer.")
        case APIConnectionError():
            return Unreachable(
                f"The llm's server does not answer at {error.request.url.host}: {error.__cause__ or error}."
            )
        case TimeoutError():
            return StreamCut("The llm's server fell silent in the middle of an answer.")
        case UnicodeDecodeError() | httpx2.HTTPError() | httpx2.StreamError():
            return StreamCut(f"The connection broke in the middle of an answer: {type(error).__name__}.")
    return error
