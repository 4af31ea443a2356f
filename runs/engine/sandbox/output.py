"""What a command prints: head and tail for the window, the whole of it in a file, an end at 64 MiB."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

HEAD = 16_000
TAIL = 16_000
CAP = 64 * 1024 * 1024


class Collector:
    """Takes output in pieces as they come. `full` turns true at the cap: then the command has to die.

    Memory stays at head and tail; what lies between goes to `spill` (a file, made only when it is needed).
    """

    def __init__(
        self, spill: Path | None = None, *, head: int = HEAD, tail: int = TAIL, cap: int = CAP
    ) -> None:
        self.total = 0
        self.spill: Path | None = None
        self._head = bytearray()
        self._tail = bytearray()
        self._sizes = (head, tail, cap)
        self._path = spill
        self._file: BinaryIO | None = None

    @property
    def full(self) -> bool:
        return self.total >= self._sizes[2]

    @property
    def omitted(self) -> int:
        """Bytes between head and tail that the text does not show."""
        return self.total - len(self._head) - len(self._tail)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; those past the cap are dropped."""
        head, tail, cap = self._sizes
        piece = piece[: cap - self.total]
        room = head - len(self._head)
        self.total += len(piece)
        self._head += piece[:room] if room > 0 else b""
        rest = piece[max(room, 0) :]
        if rest and len(self._tail) + len(rest) > tail:
            self._overflow()
        if self._file is not None:
            self._file.write(rest)
        self._tail += rest
        del self._tail[: max(0, len(self._tail) - tail)]

    def _overflow(self) -> None:
        """The first byte is about to be lost from memory: from here on everything is in the file."""
        if self._path is None or self._file is not None:
            return
        self.spill = self._path
        self._file = self._path.open("wb")
        self._file.write(self._head + self._tail)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def text(self) -> str:
        """Head and tail as text, with a line between them that says how much is missing."""
        if not self.omitted:
            return (bytes(self._head) + bytes(self._tail)).decode("utf-8", "replace")
        head = bytes(self._head).decode("utf-8", "ignore")
        tail = _from_a_character(bytes(self._tail)).decode("utf-8", "replace")
        return f"{head}\n[… {self.omitted:,} bytes omitted …]\n{tail}"


def _from_a_character(data: bytes) -> bytes:
    """Drop up to three bytes of a UTF-8 character that the cut went through."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
