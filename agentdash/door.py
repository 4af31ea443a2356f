"""The door of a server on one's own machine: a one-time link, a session, and nobody else's pages or sockets.

Every program on this machine can reach the port, and every page in the browser can send requests to it. So who comes
in needs the link that only the person's terminal shows, and whatever changes something must come from our own origin:
scheme, host and port, because cookies are not parted by port.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import login as start_session
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, HttpResponseRedirect, JsonResponse
from django.http.request import validate_host
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

LINK_SECONDS = 12 * 3600
SAFE = ("GET", "HEAD", "OPTIONS")
OPEN = ("login", "healthz")
SPENT = "This link was used already, or is too old. Ask for a fresh one with: agentdash link"

Respond = Callable[[HttpRequest], HttpResponse]


def local() -> User:
    """The one person of an embedded installation."""
    user, _ = User.objects.get_or_create(
        username="local", defaults={"is_staff": True, "is_superuser": True, "password": "!"}
    )
    return user


def link(home: Path, address: str, to: str = "/") -> str:
    """A fresh one-time address that lets its first visitor in and leads to the page `to`."""
    token = secrets.token_urlsafe(32)
    shelf = _shelf(home)
    for old in shelf.iterdir():
        if _expired(old):
            old.unlink(missing_ok=True)
    (shelf / _name(token)).touch(mode=0o600)
    query = {"token": token} | ({"next": to} if to != "/" else {})
    return f"{address}/login?{urlencode(query)}"


def redeem(home: Path, token: str) -> bool:
    """Whether the token lets somebody in. Only the first who asks gets a yes: taking it removes it."""
    path = _shelf(home) / _name(token)
    try:
        late = _expired(path)
        path.unlink()
    except FileNotFoundError:
        return False
    return not late


def _shelf(home: Path) -> Path:
    shelf = home / "links"
    shelf.mkdir(mode=0o700, exist_ok=True)
    return shelf


def _name(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _expired(path: Path) -> bool:
    return path.stat().st_mtime < time.time() - LINK_SECONDS


@never_cache
def login(request: HttpRequest) -> HttpResponse:
    """GET with a token (the link) or POST with one pasted: a session and a way in. Without: the page that asks."""
    if request.headers.get("Sec-Purpose", "").startswith("prefetch"):
        return HttpResponse(status=204)  # a browser that looks ahead must not spend the link
    given = request.POST if request.method == "POST" else request.GET
    token, onward = _pasted(given.get("token", "")), _onward(request, given.get("next", ""))
    if token and redeem(settings.AGENTDASH_HOME, token):
        start_session(request, local(), backend="django.contrib.auth.backends.ModelBackend")
        return _away(onward)
    if request.user.is_authenticated and request.method == "GET":
        return _away(onward)
    page = {"error": SPENT if token else "", "next": onward}
    return render(request, "login/login.html", page, status=403 if token else 200)


def _away(onward: str) -> HttpResponse:
    response = HttpResponseRedirect(onward, headers={"Referrer-Policy": "no-referrer"})
    response.status_code = 303
    return response


def _pasted(text: str) -> str:
    """The token of a text that is one, or is the whole link."""
    return parse_qs(urlsplit(text.strip()).query).get("token", [text.strip()])[0]


def _onward(request: HttpRequest, to: str) -> str:
    return to if url_has_allowed_host_and_scheme(to, {request.get_host()}) else "/"


class Locked:
    """Pages are for people with a session; others are shown the door."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.respond(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        match = request.resolver_match
        if request.user.is_authenticated or (match and match.view_name in OPEN):
            return None
        to = f"{reverse('login')}?{urlencode({'next': request.get_full_path()})}"
        if request.headers.get("HX-Request"):
            return HttpResponse(status=401, headers={"HX-Redirect": reverse("login")})
        if "application/json" in request.headers.get("Accept", ""):
            return JsonResponse(
                {"error": "Log in first: agentdash link prints a one-time address."}, status=401
            )
        return HttpResponseRedirect(to)


class SameOrigin:
    """What changes something must come from a page of ours. Refuses foreign hosts, origins and sites."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponse:
        ours = settings.AGENTDASH.public_url or f"{request.scheme}://{request.get_host()}"
        if request.method not in SAFE and not same_origin(request.headers, ours):
            return HttpResponseForbidden("Refused: this request comes from a page of another origin.")
        return self.respond(request)


def same_origin(headers: Any, ours: str) -> bool:
    """Whether a request with these headers may change something. Clients that are no browsers name no origin."""
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    return headers.get("Origin", ours) == ours


class Headers:
    """What every answer says to the browser, beside the content security policy."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.respond(request)
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        response["X-DNS-Prefetch-Control"] = "off"
        response["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
        return response


class SocketDoor:
    """Sockets for pages of our own origin only; a missing origin is a foreign one (browsers always send it)."""

    def __init__(self, application: Callable[..., Awaitable[None]]) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if socket_is_ours(dict(scope["headers"]), scope.get("scheme", "ws")):
            await self.application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})


def socket_is_ours(headers: dict[bytes, bytes], scheme: str) -> bool:
    """Whether the socket's Origin equals scheme, host and port it asks for, and the host is one of ours."""
    host = headers.get(b"host", b"").decode("latin-1")
    hostname = urlsplit(f"//{host}").hostname or ""
    bare = f"[{hostname}]" if ":" in hostname else hostname
    ours = settings.AGENTDASH.public_url or f"{'https' if scheme == 'wss' else 'http'}://{host}"
    return (
        validate_host(bare, settings.ALLOWED_HOSTS) and headers.get(b"origin", b"").decode("latin-1") == ours
    )
