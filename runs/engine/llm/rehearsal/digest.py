"""Feeds JSON values into a hash without writing them out: long texts go in as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Update = Callable[[bytes], None]


def feed(update: Update, value: Any) -> None:
    """The same for equal values, whatever the order of their keys; different for different ones."""
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        update(b"s%d:" % len(data))
        update(data)
    elif isinstance(value, Mapping):
        update(b"{%d" % len(value))
        for key in sorted(value):
            feed(update, key)
            feed(update, value[key])
    elif isinstance(value, list | tuple):
        update(b"[%d" % len(value))
        for item in value:
            feed(update, item)
    else:
        update(repr(value).encode())


def bare(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block without its cache mark: marks move from request to request and change nothing."""
    if "cache_control" not in value:
        return value
    return {key: item for key, item in value.items() if key != "cache_control"}
