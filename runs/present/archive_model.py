"""The model view: what the llm received at a turn, block by block, from the bytes that were sent."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.engine.messages import Block, canonical, sha256
from runs.models import Message, Run, Turn
from runs.store import requests, windows

from . import diff_labels, diff_window
from .chart import cache_share
from .diff_window import Sized, Sizes

PROMPT = ("input", "cache_read", "cache_write", "cache_write_1h")
SHOWN = 200_000
"""Characters of raw JSON a page shows; the whole of it is a download."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block. `index` counts over the whole request: tools and system come before the messages."""

    index: int
    place: str
    role: str
    icon: str
    part: str
    text: str
    code: str
    tokens: int
    turn: int
    form: str
    pinned: bool
    mark: bool


@dataclass(frozen=True, kw_only=True)
class View:
    """A request of the past. `intact`: its bytes have the hash that was stored when it was sent."""

    run: Run
    turn: Turn
    body: bytes
    pieces: tuple[Piece, ...]
    sha256: str
    messages: int
    answer: str

    @property
    def intact(self) -> bool:
        return self.sha256 == self.turn.request_sha256

    @property
    def size(self) -> int:
        return len(self.body)

    @property
    def window(self) -> int:
        """Tokens of the request as the provider counted them, else as we did."""
        return sum(self.turn.usage.get(key, 0) for key in PROMPT) or self.turn.window

    @property
    def cache(self) -> float | None:
        """The share of it that the provider read from its cache."""
        return cache_share(self.turn)

    @property
    def answer_tokens(self) -> int:
        return int(self.turn.usage.get("output", 0))

    @property
    def is_cut(self) -> bool:
        return len(self.raw) >= SHOWN

    @property
    def raw(self) -> str:
        """Indented JSON for reading, cut at SHOWN characters."""
        return json.dumps(json.loads(self.body), indent=2, ensure_ascii=False)[:SHOWN]


def view(run: Run, number: int) -> View:
    """The request of a turn, 0 for the newest. Raises LookupError before the first, Turn.DoesNotExist."""
    newest = Turn.objects.filter(run=run).order_by("-number", "-attempt").first()
    if newest is None:
        raise LookupError("No turn has been sent yet.")
    sent = requests.sent(run, number or newest.number)
    row, body = sent.turn, sent.request.body
    asked = json.loads(body)
    sizes, entries = diff_window.load(run, windows.frame(row.frame_id), row.version, row.upto)
    return View(
        run=run,
        turn=row,
        body=body,
        pieces=tuple(_pieces(asked, sizes, entries, row)),
        sha256=sha256(body),
        messages=len(asked["messages"]),
        answer=_answer(run, row.number),
    )


def _answer(run: Run, turn: int) -> str:
    """What the llm answered, in a few words; '' while it has not."""
    row = Message.objects.filter(run=run, turn=turn, kind="answer").order_by("-number").first()
    if row is None:
        return ""
    return diff_labels.name(windows.one_message(run.pk, row.number), {}).whole


def body(run: Run, number: int) -> bytes:
    """The bytes of a turn's request. Raises Turn.DoesNotExist."""
    return requests.body(run, number)


def block_text(body: bytes, index: int) -> str:
    """One block of a request as text to read. Raises LookupError."""
    for at, (_, _, block) in enumerate(_blocks(json.loads(body))):
        if at == index:
            return _readable(block)
    raise LookupError(f"The request has no block {index}.")


def _readable(block: Block) -> str:
    if block["type"] == "tools":
        return json.dumps(block["tools"], indent=2, ensure_ascii=False)
    return diff_labels.readable([block])


def _blocks(asked: Mapping[str, Any]) -> Iterator[tuple[str, str, Block]]:
    """(place, role, block) of everything in a request, in the order in which the llm reads it."""
    if asked.get("tools"):
        yield "tools", "", {"type": "tools", "tools": asked["tools"]}
    for at, block in enumerate(asked.get("system", ())):
        yield f"system {at}", "", block
    for at, message in enumerate(asked["messages"]):
        for inner, block in enumerate(message["content"]):
            yield f"{at}.{inner}", message["role"], block


def _bare(block: Block) -> bytes:
    return canonical({key: value for key, value in block.items() if key != "cache_control"})


def _pieces(asked: Mapping[str, Any], sizes: Sizes, entries: Sequence[Sized], turn: Turn) -> Iterator[Piece]:
    """Each block with the entry it comes from, found by content: neighbours are merged on the way out."""
    homes: dict[bytes, deque[Sized]] = defaultdict(deque)
    for sized in entries:
        for block in sizes.blocks(sized.entry):
            homes[_bare(block)].append(sized)
    for index, (place, role, block) in enumerate(_blocks(asked)):
        waiting = homes.get(_bare(block))
        home = waiting.popleft() if waiting else None
        yield _piece(index, place, role, block, home, sizes)


def _piece(index: int, place: str, role: str, block: Block, home: Sized | None, sizes: Sizes) -> Piece:
    icon, part, text, code = _words(place, block, home, sizes)
    return Piece(
        index=index,
        place=place,
        role=role,
        icon=icon,
        part=part,
        text=text,
        code=code,
        tokens=diff_window.block_tokens(block),
        turn=home.entry.message.turn if home else 0,
        form=home.entry.form.value if home else "full",
        pinned=home.entry.pinned if home else False,
        mark="cache_control" in block,
    )


def _words(place: str, block: Block, home: Sized | None, sizes: Sizes) -> tuple[str, str, str, str]:
    if place.startswith("tools"):
        names = ", ".join(tool["name"] for tool in block["tools"])
        return "tool", "tools", f"{len(block['tools'])} tools", names
    if place.startswith("system"):
        return "lock", "system", "System prompt", diff_labels.first_line(str(block["text"]))
    part = next((name for name, value in home.parts.items() if value), "assistant") if home else "system"
    match block["type"]:
        case "tool_use":
            icon = diff_labels.ICONS.get(block["name"], "tool")
            return icon, "assistant", str(block["name"]), diff_labels.argument(block)
        case "tool_result":
            call = sizes.calls.get(block["tool_use_id"])
            icon = diff_labels.ICONS.get(call["name"], "tool") if call else "tool"
            name = f"result of {call['name']}" if call else "result"
            return icon, part, name, diff_labels.first_line(diff_labels.readable([block]))
        case "thinking" | "redacted_thinking":
            return "thought", "thinking", "Thought", diff_labels.first_line(str(block.get("thinking", "")))
    return _text(part, str(block.get("text", "")))


def _text(part: str, text: str) -> tuple[str, str, str, str]:
    icon = {"episodes": "compact", "notes": "note", "person": "person", "system": "bell"}.get(part, "spark")
    rest = text.partition("\n")[2]
    if part == "episodes":
        return icon, part, diff_labels.summary_name(text), diff_labels.first_line(rest)
    if part == "notes":
        lines = " ".join(rest.removesuffix("</notes>").split())
        return icon, part, "Notes", diff_labels.first_line(lines)
    return icon, part, "", diff_labels.first_line(text)
