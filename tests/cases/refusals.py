"""What the Messages API would refuse of a body: written from its validation messages, apart from the product's own.

`Bindings` is an llm that binds thinking: it remembers before which prefix each signature was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine.messages import canonical, sha256
from runs.engine.tokens import picture_size

from .structure import blocks_of, problems

Body = Mapping[str, Any]
KEYS = {
    "text": {"text", "citations"},
    "image": {"source"},
    "document": {"source", "title", "context", "citations"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "server_tool_use": {"id", "name", "input"},
    "web_search_tool_result": {"tool_use_id", "content"},
    "code_execution_tool_result": {"tool_use_id", "content"},
    "mcp_tool_use": {"id", "name", "input", "server_name"},
    "mcp_tool_result": {"tool_use_id", "content", "is_error"},
    "search_result": {"source", "title", "content", "citations"},
}
THINKING = ("thinking", "redacted_thinking")
PERSONS = ("tool_result", "image", "document", "search_result")
ID, NAME = re.compile(r"[a-zA-Z0-9_-]+"), re.compile(r"[a-zA-Z0-9_-]{1,128}")
MOST_BYTES, PICTURE_BYTES = 32 * 1024 * 1024, 5 * 1024 * 1024


def refused(body: Body) -> list[str]:
    """Every reason for a 400; [] when it would be taken."""
    return [*problems(body["messages"]), *_of_messages(body["messages"]), *_marks(body), *_size(body)]


def _of_messages(messages: Sequence[Body]) -> Iterator[str]:
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        if set(message) != {"role", "content"}:
            yield f"messages.{at}: Extra inputs are not permitted"
        for spot, block in enumerate(blocks):
            yield from _of_block(f"messages.{at}.content.{spot}", message["role"], block)
        if message["role"] == "assistant" and blocks and blocks[-1]["type"] in THINKING:
            yield f"messages.{at}: The final block in an assistant message cannot be thinking"


def _of_block(where: str, role: str, block: Body) -> Iterator[str]:
    kind = block["type"]
    if kind not in KEYS:
        yield f"{where}: Input tag {kind!r} does not match any of the expected tags"
        return
    extra = set(block) - KEYS[kind] - {"type", "cache_control"}
    if extra:
        yield f"{where}: Extra inputs are not permitted: {extra}"
    if kind in THINKING and "cache_control" in block:
        yield f"{where}: cache_control is not permitted on thinking"
    if kind != "text" and role != ("user" if kind in PERSONS else "assistant"):
        yield f"{where}: {kind} in a message of the {role}"
    if kind == "redacted_thinking" and not block["data"]:
        yield f"{where}: redacted thinking without data"
    if kind == "tool_use" and not (
        ID.fullmatch(block["id"]) and NAME.fullmatch(block["name"]) and isinstance(block["input"], dict)
    ):
        yield f"{where}: a call without a proper id, name or input"
    if kind == "tool_result":
        if block.get("is_error") and not block.get("content"):
            yield f"{where}: content cannot be empty if `is_error` is true"
        if isinstance(block.get("content"), str) and block["content"] and not block["content"].strip():
            yield f"{where}: text content blocks must contain non-whitespace text"
        for part in block.get("content") or () if isinstance(block.get("content"), list) else ():
            if part["type"] not in ("text", "image", "document", "search_result", "tool_reference"):
                yield f"{where}: {part['type']} inside a result"


def _marks(body: Body) -> Iterator[str]:
    spots = [*body.get("system", []), *body.get("tools", []), *_everything(body)]
    found = sum("cache_control" in spot for spot in spots)
    if found > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {found}."


def _size(body: Body) -> Iterator[str]:
    pictures = [block for block in _everything(body) if block["type"] == "image"]
    if len(pictures) > 100:
        yield f"{len(pictures)} pictures"
    if any(len(picture["source"].get("data") or "") > PICTURE_BYTES for picture in pictures):
        yield "image exceeds 5 MB maximum"
    if any(max(picture_size(picture) or (0, 0)) > 8000 for picture in pictures):
        yield "a picture over 8,000 px"
    if len(pictures) > 20 and any(max(picture_size(picture) or (0, 0)) > 2000 for picture in pictures):
        yield "a picture over 2,000 px among more than 20"
    if len(canonical(body)) > MOST_BYTES:
        yield "request_too_large"


def _everything(body: Body) -> Iterator[Body]:
    """All blocks, and the parts inside them."""
    for message in body["messages"]:
        for block in blocks_of(message):
            yield block
            if isinstance(block.get("content"), list):
                yield from block["content"]


@dataclass(slots=True)
class Bindings:
    """Signature → digest of everything that stood before its block, thinking and cache marks left out."""

    given: dict[str, str] = field(default_factory=dict)

    def take(self, body: Body) -> None:
        """The llm has signed what is new in this body for the prefix it has here."""
        for signature, digest in self._of(body):
            self.given.setdefault(signature, digest)

    def refused(self, body: Body) -> list[str]:
        return [
            f"the thinking {signature!r} is bound to a different conversation"
            for signature, digest in self._of(body)
            if self.given.get(signature) != digest
        ]

    def _of(self, body: Body) -> Iterator[tuple[str, str]]:
        before = [canonical([body.get("system"), body.get("tools")])]
        for message in body["messages"]:
            before.append(message["role"].encode())
            for block in blocks_of(message):
                if block["type"] == "thinking":
                    yield block["signature"], sha256(b"".join(before))
                elif block["type"] not in THINKING:
                    before.append(canonical(_bare(block)))


def _bare(block: Body) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}
