"""How a message looks in a form. A pure function of the message, the calls it answers and the frame's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .. import tokens
from ..events import Form
from ..messages import Block, Kind, Message, result_text, sha256
from ..tokens import first
from .ledger import key_lines
from .lines import inner, is_thinking
from .media import MOST_PICTURE_BYTES, MOST_PICTURES

RENDER = 2
"""Of this code and render's. A change that alters bytes gets a new number; what drew the old ones stays.

1: sizes by the estimates of the first release, and two cache marks that slide. 2: a third where edits begin (marks).
"""

SMALL = 120
"""Results below this many tokens are never cleared: the marker would be no smaller."""

HEAD_CHARACTERS = 2000
"""At most this much of the head, and of the tail, of an offloaded text, and a quarter of the text each: few very long
lines must not fill it, and a preview must be smaller than what it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of the policy that decide how forms look. They travel in the frame, so a past turn renders alike."""

    result_tokens: int
    message_tokens: int
    head_lines: int
    tail_lines: int
    key_lines: int
    exclude: tuple[str, ...]
    pictures: int = MOST_PICTURES
    picture_bytes: int = MOST_PICTURE_BYTES
    render: int = RENDER
    """The number of the code that draws it, which the frame has beside these numbers."""

    def params(self) -> dict[str, Any]:
        numbers = {name: value for name, value in asdict(self).items() if name != "render"}
        return {**numbers, "exclude": list(self.exclude)}

    @classmethod
    def of(cls, params: Mapping[str, Any], render: int) -> Shape:
        return cls(**{**params, "exclude": tuple(params["exclude"])}, render=render)

    def size(self, block: Block) -> int:
        """Tokens of a block, by the estimates that this render number draws with."""
        return first.of_block(block) if self.render == 1 else tokens.of_block(block)

    def length(self, text: str) -> int:
        """Tokens of a text, likewise."""
        return first.estimate(text) if self.render == 1 else tokens.estimate(text)


def shown(message: Message, form: Form, shape: Shape, calls: Mapping[str, Block]) -> tuple[Block, ...]:
    """The content blocks as they are sent."""
    if form is Form.FULL:
        return message.content
    if form is Form.PREVIEW:
        return _preview(message, shape, calls)
    if message.kind is Kind.ANSWER:
        return tuple(block for block in message.content if not is_thinking(block))
    return tuple(_cleared(block, message, shape, calls) for block in message.content)


def clearable(block: Block, shape: Shape, calls: Mapping[str, Block]) -> bool:
    """Whether clearing would touch this block: no errors, nothing small, not what notes and recall brought."""
    if block["type"] != "tool_result" or block.get("is_error"):
        return False
    name = calls.get(block["tool_use_id"], {}).get("name", "")
    return name not in shape.exclude and shape.size(block) >= SMALL


def _cleared(block: Block, message: Message, shape: Shape, calls: Mapping[str, Block]) -> Block:
    if not clearable(block, shape, calls):
        return block
    name = calls.get(block["tool_use_id"], {}).get("name", "a tool")
    size = shape.size(block)
    way = f"Get it back: read_archive({message.turn}) or recall(query)"
    marker = f"[Output of {name} cleared, {size:,} tokens{_beside(block, shape)}. {way}.]"
    lines = key_lines(result_text(block), shape.key_lines)
    while lines and 2 * shape.length("\n".join([marker, *lines])) > size:
        lines.pop()
    return _with_content(block, "\n".join([marker, *lines]))


def _beside(block: Block, shape: Shape) -> str:
    """What a result holds beside its text: a line of text cannot stand for it, so it is named."""
    kinds = [part["type"] for part in inner(block) if part["type"] != "text"] if shape.render > 1 else []
    return "".join(f", {kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))


def _with_content(block: Block, content: str | list[Block]) -> Block:
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    return {**kept, "content": content}


def oversized(message: Message, shape: Shape, calls: Mapping[str, Block]) -> tuple[int, ...]:
    """Positions of the blocks an offload replaces: those over the mark, then the largest until the sum fits."""
    if message.kind is Kind.SAY:
        return _oversized_texts(message, shape, shape.message_tokens)
    sizes = {
        at: _of_text(block, shape)
        for at, block in enumerate(message.content)
        if block["type"] == "tool_result" and not _reads_run_file(block, calls)
    }
    chosen = {at for at, size in sizes.items() if size > shape.result_tokens}
    rest = sorted((at for at in sizes if at not in chosen), key=lambda at: -sizes[at])
    left = sum(sizes[at] for at in rest)
    for at in rest:
        if left <= shape.result_tokens or sizes[at] < SMALL * 4:
            break
        chosen.add(at)
        left -= sizes[at]
    return tuple(sorted(chosen))


def _of_text(block: Block, shape: Shape) -> int:
    """Tokens of a result that a file can take: pictures cannot be paged through, they stay in the window."""
    return shape.size(block) if shape.render == 1 or not inner(block) else shape.length(result_text(block))


def _oversized_texts(message: Message, shape: Shape, limit: int) -> tuple[int, ...]:
    sizes = [shape.size(block) for block in message.content]
    return tuple(
        at for at, block in enumerate(message.content) if block["type"] == "text" and sizes[at] > limit
    )


def replaced(message: Message, shape: Shape, calls: Mapping[str, Block]) -> tuple[int, ...]:
    """Positions of the blocks a preview stands for: the oversized; where a person's message must give way to newer
    ones (W8) though nothing in it is oversized, every text that a preview makes smaller."""
    large = oversized(message, shape, calls)
    return large if large or message.kind is not Kind.SAY else _oversized_texts(message, shape, 2 * SMALL)


def _reads_run_file(block: Block, calls: Mapping[str, Block]) -> bool:
    """A page of an offloaded file is not offloaded again (else reading it never ends)."""
    given = calls.get(block["tool_use_id"], {}).get("input") or {}
    return str(given.get("path", "")).startswith("@run/")


def offloaded_files(message: Message, shape: Shape, calls: Mapping[str, Block]) -> dict[str, str]:
    """The files a preview of this message needs: name below the run's folder → text."""
    return {file_name(message, at): block_text(message.content[at]) for at in replaced(message, shape, calls)}


def file_name(message: Message, at: int) -> str:
    """Short and ours: never made of an id that came from outside."""
    digest = sha256(block_text(message.content[at]).encode("utf-8", "replace"))
    return f"results/m{message.number}-{at}-{digest[:8]}.txt"


def block_text(block: Block) -> str:
    return block["text"] if block["type"] == "text" else result_text(block)


def _preview(message: Message, shape: Shape, calls: Mapping[str, Block]) -> tuple[Block, ...]:
    chosen = replaced(message, shape, calls)
    return tuple(
        _previewed(block, message, at, shape) if at in chosen else block
        for at, block in enumerate(message.content)
    )


def _previewed(block: Block, message: Message, at: int, shape: Shape) -> Block:
    whole = block_text(block)
    size, lines = shape.length(whole), whole.count("\n") + 1
    head, tail = ends(whole, shape.head_lines, shape.tail_lines)
    path = f"@run/{file_name(message, at)}"
    what = f"{size:,} tokens in {lines:,} lines{_beside(block, shape)}"
    gap = f"[… {what}: the whole text is in {path}; read_file pages through it …]"
    text = "\n".join(part for part in (head, gap, tail) if part)
    if block["type"] == "text":
        return {"type": "text", "text": text}
    pictures = [part for part in inner(block) if part["type"] == "image"] if shape.render > 1 else []
    return _with_content(block, [{"type": "text", "text": text}, *pictures] if pictures else text)


def ends(text: str, head_lines: int, tail_lines: int) -> tuple[str, str]:
    """The first and last lines of a text, each at most HEAD_CHARACTERS and a quarter of the text long."""
    lines: Sequence[str] = text.split("\n")
    most = min(HEAD_CHARACTERS, len(text) // 4)
    head = "\n".join(lines[:head_lines])[:most]
    rest = lines[head_lines:]
    tail = "\n".join(rest[-tail_lines:] if tail_lines else [])
    return head, tail[max(0, len(tail) - most) :]
