"""The scripts by name: `hello` (3 turns), `orders` (the demo), `job` (a long one for measuring)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..script import Script
from . import hello, orders

_SCRIPTS: dict[str, Callable[[], Script]] = {"orders": orders.script, "hello": hello.script}
DEFAULT = "orders"


def names() -> tuple[str, ...]:
    return tuple(_SCRIPTS)


@cache
def get(name: str) -> Script:
    """The script of that name, "" for the default. Raises KeyError with the known names."""
    if (name or DEFAULT) not in _SCRIPTS:
        raise KeyError(f"There is no script named {name!r}. Known: {', '.join(names())}.")
    return _SCRIPTS[name or DEFAULT]()
