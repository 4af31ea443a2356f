"""The scripts by name: `orders` (the demo), `hello` (3 turns), `errands` and `errands-<turns>` (100 turns, each with an
effect of its own), `job` and `job-<turns>` (long, for measuring), `naps` (slow commands).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ..script import Script
from . import errands, hello, job, naps, orders

_SCRIPTS: dict[str, Callable[[], Script]] = {
    "orders": orders.script,
    "hello": hello.script,
    "errands": errands.script,
    "job": job.script,
    "naps": naps.script,
}
_SIZED = re.compile(r"(job|errands|naps)-([1-9]\d{0,4})")
_SIZES: dict[str, Callable[[int], Script]] = {
    "job": job.script,
    "errands": errands.script,
    "naps": naps.script,
}
DEFAULT = "orders"


def names() -> tuple[str, ...]:
    return tuple(_SCRIPTS)


def known(name: str) -> bool:
    return name in _SCRIPTS or _SIZED.fullmatch(name) is not None


@cache
def get(name: str) -> Script:
    """The script of that name, "" for the default. Raises KeyError with the known names."""
    sized = _SIZED.fullmatch(name)
    if sized:
        return _SIZES[sized[1]](int(sized[2]))
    if (name or DEFAULT) not in _SCRIPTS:
        raise KeyError(f"There is no script named {name!r}. Known: {', '.join(names())}.")
    return _SCRIPTS[name or DEFAULT]()
