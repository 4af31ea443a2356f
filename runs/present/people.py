"""People by name, as a page speaks of them."""

from __future__ import annotations


def person(name: str) -> str:
    """The one person of an embedded house is the reader."""
    return "you" if name == "local" else name
