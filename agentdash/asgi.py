"""The server's entry: pages through Django, sockets through Channels, both behind the same door."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdash.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402 (needs Django set up)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from agentdash import celery, door  # noqa: E402, F401 (the app must exist before a view sends a task)
from runs.live.routing import sockets  # noqa: E402

application = ProtocolTypeRouter(
    {"http": pages, "websocket": door.SocketDoor(AuthMiddlewareStack(URLRouter(sockets)))}
)
