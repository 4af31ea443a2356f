"""The stand-in in process: an httpx2 transport under the real SDK, whose Response streams unbuffered."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from .standin import StandIn
from .wire import Asked, Reset


class InProcess(httpx2.AsyncBaseTransport):
    def __init__(self, standin: StandIn) -> None:
        self.standin = standin

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(method=request.method, path=request.url.path, headers=headers, body=body)
        try:
            reply = await self.standin.answer(asked)
        except Reset as error:
            raise httpx2.RemoteProtocolError(str(error), request=request) from error
        return httpx2.Response(
            reply.status, headers=dict(reply.headers), stream=_Streamed(reply.body, request)
        )


class _Streamed(httpx2.AsyncByteStream):
    def __init__(self, body: AsyncIterator[bytes], request: httpx2.Request) -> None:
        self._body = body
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                yield piece
        except Reset as error:
            raise httpx2.RemoteProtocolError(str(error), request=self._request) from error
