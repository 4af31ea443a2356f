"""Tokens of what is no text though it is written in letters: documents in base64, and what only the provider reads."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..messages import Block, canonical
from .words import estimate

PAGE = 2_250
"""Tokens of a page of a PDF: 1,500 to 3,000 by the API's pages, the picture of it included."""

PAGE_BYTES = 100_000
"""Of a PDF whose pages cannot be counted."""

SEALED = 3 / 16
"""Tokens per character of base64: three bytes in four characters, four bytes of text a token."""

_PAGE = re.compile(rb"/Type\s*/Page\b")
_FIELDS = ("data", "encrypted_content", "encrypted_index", "encrypted_stdout", "signature")
"""Fields that hold base64 which only the provider reads."""


def of_document(block: Block) -> int:
    """By its text, or by its pages; never by the length of its base64."""
    source: Mapping[str, Any] = block.get("source") or {}
    told = sum(estimate(str(block.get(key) or "")) for key in ("title", "context"))
    kind, data = source.get("type"), source.get("data")
    if kind == "text":
        return told + estimate(str(data or ""))
    if kind == "content":
        return told + of_sealed(source)
    return told + PAGE * (_pages(data) if kind == "base64" and isinstance(data, str) else 1)


@lru_cache(maxsize=32)
def _pages(data: str) -> int:
    try:
        raw = base64.b64decode(data, validate=False)
    except ValueError:
        raw = b""
    return len(_PAGE.findall(raw)) or -(-len(data) // PAGE_BYTES) or 1


def of_sealed(value: Mapping[str, Any]) -> int:
    """A block of any other kind as JSON; what is sealed in it counts by its bytes."""
    sealed: list[str] = []
    plain = canonical(_opened(value, sealed)).decode()
    return estimate(plain) + round(SEALED * sum(map(len, sealed)))


def _opened(value: Any, sealed: list[str]) -> Any:
    if isinstance(value, Mapping):
        hidden = {key for key in _FIELDS if isinstance(value.get(key), str)}
        sealed += [value[key] for key in hidden]
        return {key: _opened(item, sealed) for key, item in value.items() if key not in hidden}
    if isinstance(value, list | tuple):
        return [_opened(item, sealed) for item in value]
    return value
