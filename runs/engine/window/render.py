"""From a window to the bytes of a request: a pure function of (frame, version, upto), so a past turn is rebuilt.

Frames know the number of the code that draws them (forms.RENDER); what drew the old ones stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from ..errors import InvalidWindow
from ..events import Frame
from ..messages import Block, Message, canonical, sha256, texts_of
from .forms import RENDER, Shape, shown
from .layout import Laid, Layout
from .lines import Line
from .marks import MARK, Marks, tails
from .repair import NO_FRONT, front_of, joined
from .tidy import Mended, tidied
from .validate import MOST_BYTES, MOST_MARKS, problems
from .versions import Entry, Shown
from .wire import Written, written

MARKS = attrgetter("marks")


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


class Renderer:
    """Renders requests of one run. Remembers the lines it has seen, and what the last request began with: only what is
    new is laid out, joined, looked at, dumped and hashed."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self._known: dict[tuple[int, str, str], Laid] = {}
        self._layout, self._front, self._marks, self._written = Layout(), NO_FRONT, Marks(), Written()
        self._framed: tuple[str, Mapping[str, bytes]] = ("", {})
        self._shaped: tuple[Frame, Shape] | None = None

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
        mended = self._joined(frame, self._laid_out(frame, tuple(entries), calls))
        lines = self._marked(frame, mended, aside)
        marks = sum("cache_control" in tool for tool in frame.tools) + bool(frame.system)
        marks += sum(map(MARKS, lines))
        if marks > MOST_MARKS:
            raise InvalidWindow(
                f"The request has {marks} cache marks, and {MOST_MARKS} are allowed. Report this run."
            )
        purpose = f"{self.slug}:{turn}:summary" if aside else f"{self.slug}:{turn}"
        self._written = written(self._pieces(frame, purpose, max_tokens), lines, self._written)
        body = self._written.body
        if len(body) > MOST_BYTES:
            raise InvalidWindow(
                f"The request has {len(body):,} bytes, more than the API takes. Clear the window."
            )
        request = Request(body=body, sha256=self._written.sha256, turn=turn)
        return Rendered(request=request, repairs=tuple(mended.repairs))

    def shape(self, frame: Frame) -> Shape:
        """The numbers of a frame; the same object for the same frame."""
        if self._shaped is None or self._shaped[0] is not frame:
            self._shaped = (frame, Shape.of(frame.params["shape"], frame.render))
        return self._shaped[1]

    def pairs(self, frame: Frame, entries: Iterable[Entry], calls: Mapping[str, Block]) -> Sequence[Shown]:
        """Entries with their blocks; the same pairs as long as they stand at the front."""
        return self._laid_out(frame, tuple(entries), calls).pairs

    def _laid_out(self, frame: Frame, entries: tuple[Entry, ...], calls: Mapping[str, Block]) -> Layout:
        if self._layout.entries is entries and self._layout.frame == frame.sha256:
            return self._layout
        if not self._layout.stands(frame, entries):
            self._layout = Layout(frame=frame.sha256)
        new, shape = entries[len(self._layout.entries) :], self.shape(frame)
        laid = [self._lay(frame, entry, shape, calls) for entry in new]
        self._layout = self._layout.grown(entries, laid)
        return self._layout

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

    def _joined(self, frame: Frame, layout: Layout) -> Mended:
        """The lines of a request, mended and looked at. Raises InvalidWindow."""
        shape, front = self.shape(frame), self._front
        front = front if front.stands(layout.tidied) else NO_FRONT
        mended = joined(
            layout.tidied,
            max_pictures=shape.pictures,
            max_picture_bytes=shape.picture_bytes,
            front=front,
        )
        wrong = problems(mended.lines, front)
        if wrong:
            raise InvalidWindow(
                f"The window cannot be sent: {wrong[0]}. Clear the window, or report this run."
            )
        self._front = front_of(layout.tidied, mended, front)
        return mended

    def _marked(self, frame: Frame, mended: Mended, aside: str) -> list[Line]:
        """The lines with their cache marks; a question on the side reads what was written, and writes nothing new."""
        if not aside:
            if frame.render == 1:
                return self._marks.sliding(mended.lines, tails(mended.lines))
            return self._marks.with_seams(mended.lines, self._layout.sent, self._layout.seams)
        lines = self._marks.sliding(mended.lines, tails(mended.lines)[:-1])
        lines[-1] = replace(lines[-1], blocks=(*lines[-1].blocks, {"type": "text", "text": aside}))
        return lines

    def _pieces(self, frame: Frame, purpose: str, max_tokens: int) -> Mapping[str, bytes]:
        """All that a request holds beside its messages, dumped."""
        pieces = {**self._steady(frame), "metadata": canonical({"user_id": purpose})}
        return {**pieces, "max_tokens": canonical(max_tokens)} if max_tokens else pieces

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
