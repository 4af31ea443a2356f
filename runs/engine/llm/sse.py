"""Server-sent events out of bytes as they come. Of an event only its data is wanted."""

from __future__ import annotations

import codecs
from collections.abc import Iterator


class Reader:
    """Feed it the pieces of a stream in order. Bytes that are no UTF-8 become U+FFFD: the answer stands all the
    same."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._returned = False
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[str]:
        """The data of each event that is whole now; an event without data is none."""
        *lines, self._rest = (self._rest + self._decoded(piece)).split("\n")
        for line in lines:
            if line.startswith("data:") or line == "data":
                self._data.append(line[5:].removeprefix(" "))
            elif not line and self._data:
                data, self._data = "\n".join(self._data), []
                yield data

    def _decoded(self, piece: bytes) -> str:
        """With one kind of line's end. The second half of one that was cut in its middle is left out."""
        text = self._decoder.decode(piece)
        if not text:
            return ""
        if self._returned:
            text = text.removeprefix("\n")
        self._returned = text.endswith("\r")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
