"""From a window to the bytes of a request: a pure function of (frame, version, upto), so a past turn is rebuilt.

Frames know the number of the code that draws them (forms.RENDER); what drew the old ones stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

from ..errors import InvalidWindow
from ..events import Frame
from ..messages import Block, Message, canonical, sha256, texts_of
from .forms import RENDER, Shape, shown
from .lines import Line
from .marks import MARK, marked, tails, with_seams
from .repair import joined
from .tidy import Mended, Tidied, tidied
from .validate import MOST_BYTES, MOST_MARKS, problems
from .versions import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it is sent: `body` is the canonical JSON of the Messages API's body, `stream` included. `after` is
    the id of the answer before: a provider that can is asked why its cache missed; that is no part of the body."""

    body: bytes
    sha256: str
    turn: int
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    request: Request
    repairs: tuple[str, ...]


def frame_of(
    *, llm: str, system: str, tools: Sequence[Mapping[str, Any]], params: Mapping[str, Any], shape: Shape
) -> Frame:
    """A frame with its hash. `params` go into the request as they are; the shape decides how forms look."""
    blocks = ({"type": "text", "text": system},) if system else ()
    both = {"request": dict(params), "shape": shape.params()}
    whole = {"llm": llm, "system": list(blocks), "tools": list(tools), "params": both, "render": RENDER}
    return Frame(
        sha256=sha256(canonical(whole)),
        llm=llm,
        system=blocks,
        tools=tuple(tools),
        params=both,
        render=RENDER,
    )


def roomier(frame: Frame, max_tokens: int) -> Frame:
    """The same frame, but for longer answers: what an answer that was cut off is asked for once more."""
    request = {**frame.params["request"], "max_tokens": max_tokens}
    return frame_of(
        llm=frame.llm,
        system=texts_of(frame.system),
        tools=frame.tools,
        params=request,
        shape=Shape.of(frame.params["shape"], frame.render),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A message as it is sent in one form: its blocks, and the line they make."""

    message: Message
    blocks: tuple[Block, ...]
    tidied: Tidied


class Renderer:
    """Renders requests of one run. Remembers the lines it has seen: old messages are never dumped again."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self._known: dict[tuple[int, str, str], Laid] = {}
        self._last: tuple[str, tuple[Entry, ...], list[Laid]] = ("", (), [])
        self._framed: tuple[str, Mapping[str, bytes]] = ("", {})

    def render(
        self,
        frame: Frame,
        entries: Iterable[Entry],
        calls: Mapping[str, Block],
        turn: int,
        *,
        aside: str = "",
        max_tokens: int = 0,
    ) -> Rendered:
        """The request of a turn. With `aside` it is a question about the same prefix (a summary, a check):
        one more text block, no new cache mark, and its own `max_tokens`. Raises InvalidWindow."""
        shape = Shape.of(frame.params["shape"], frame.render)
        listed = list(entries)
        laid = self.laid(frame, listed, calls)
        mended = joined(
            [one.tidied for one in laid], max_pictures=shape.pictures, max_picture_bytes=shape.picture_bytes
        )
        wrong = problems(mended.lines)
        if wrong:
            raise InvalidWindow(
                f"The window cannot be sent: {wrong[0]}. Clear the window, or report this run."
            )
        blocks = [(entry, one.tidied.line.blocks) for entry, one in zip(listed, laid, strict=True)]
        lines = self._marked(frame, mended, blocks, aside)
        marks = sum("cache_control" in tool for tool in frame.tools) + bool(frame.system)
        marks += sum(line.marks for line in lines)
        if marks > MOST_MARKS:
            raise InvalidWindow(
                f"The request has {marks} cache marks, and {MOST_MARKS} are allowed. Report this run."
            )
        purpose = f"{self.slug}:{turn}:summary" if aside else f"{self.slug}:{turn}"
        body = self._body(frame, lines, purpose, max_tokens)
        if len(body) > MOST_BYTES:
            raise InvalidWindow(
                f"The request has {len(body):,} bytes, more than the API takes. Clear the window."
            )
        request = Request(body=body, sha256=sha256(body), turn=turn)
        return Rendered(request=request, repairs=tuple(mended.repairs))

    def laid(self, frame: Frame, entries: Iterable[Entry], calls: Mapping[str, Block]) -> list[Laid]:
        """Entries as they are sent. Those that were laid out last and still stand at the front are not looked up."""
        listed, (name, before, laid) = tuple(entries), self._last
        stays = name == frame.sha256 and len(before) <= len(listed) and all(map(is_, before, listed))
        same, shape = len(before) * stays, Shape.of(frame.params["shape"], frame.render)
        laid = [*laid[:same], *(self._lay(frame, entry, shape, calls) for entry in listed[same:])]
        self._last = (frame.sha256, listed, laid)
        return laid

    def blocks(
        self, frame: Frame, entry: Entry, shape: Shape, calls: Mapping[str, Block]
    ) -> tuple[Block, ...]:
        """An entry's blocks in its form; the same objects each time."""
        return self._lay(frame, entry, shape, calls).blocks

    def _lay(self, frame: Frame, entry: Entry, shape: Shape, calls: Mapping[str, Block]) -> Laid:
        """Remembered, and so are the bytes of its line. An edit that was drawn and not applied has shown messages
        under numbers that others get, so the message itself is looked at."""
        key = (entry.message.number, entry.form.value, frame.sha256)
        known = self._known.get(key)
        if known is None or known.message is not entry.message:
            blocks = shown(entry.message, entry.form, shape, calls)
            tidy = tidied(Line(role=entry.message.role, blocks=blocks))
            known = self._known[key] = Laid(message=entry.message, blocks=blocks, tidied=tidy)
        return known

    def _marked(
        self, frame: Frame, mended: Mended, shown: Sequence[tuple[Entry, Sequence[Block]]], aside: str
    ) -> list[Line]:
        """The lines with their cache marks; a question on the side reads what was written, and writes nothing new."""
        if not aside:
            slides = frame.render == 1
            return marked(mended.lines, tails(mended.lines)) if slides else with_seams(mended.lines, shown)
        lines = marked(mended.lines, tails(mended.lines)[:-1])
        lines[-1] = replace(lines[-1], blocks=(*lines[-1].blocks, {"type": "text", "text": aside}))
        return lines

    def _body(self, frame: Frame, lines: Sequence[Line], purpose: str, max_tokens: int) -> bytes:
        """Canonical JSON, joined from remembered pieces: the same bytes as canonical() of the whole body."""
        pieces = dict(self._steady(frame))
        if max_tokens:
            pieces["max_tokens"] = canonical(max_tokens)
        pieces["metadata"] = canonical({"user_id": purpose})
        pieces["messages"] = b"[" + b",".join([line.data for line in lines]) + b"]"
        return b"{" + b",".join(b'"%s":%s' % (key.encode(), pieces[key]) for key in sorted(pieces)) + b"}"

    def _steady(self, frame: Frame) -> Mapping[str, bytes]:
        """What a frame puts into each of its requests: 10 kB of tools and system prompt are dumped once."""
        if self._framed[0] != frame.sha256:
            pieces = {key: canonical(value) for key, value in frame.params["request"].items()}
            pieces |= {"model": canonical(frame.llm), "stream": b"true"}
            if frame.system:
                *before, last = frame.system
                pieces["system"] = canonical([*before, {**last, "cache_control": MARK}])
            if frame.tools:
                pieces["tools"] = canonical(list(frame.tools))
            self._framed = (frame.sha256, pieces)
        return self._framed[1]


def model_view(
    frame: Frame, entries: Sequence[Entry], archive: Iterable[Message], slug: str, turn: int
) -> Rendered:
    """The request of a past turn, rebuilt. `archive` holds the answers whose calls the entries' results belong to."""
    known = sorted(archive, key=lambda message: message.number)
    calls = {
        block["id"]: block for message in known for block in message.content if block["type"] == "tool_use"
    }
    return Renderer(slug).render(frame, entries, calls, turn)
