"""Cuts a text into pages of whole lines, and huge lines into pages of characters."""

from __future__ import annotations

from dataclasses import dataclass

CHARACTERS = 30_000
LINES = 1_000


class NoSuchPlace(ValueError):
    """The place asked for lies behind the end of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Text of lines first..last (from 1) of `lines`; `next_line`, `next_column` say where to go on, 0 at the
    end.

    `column` and `to` count characters of a line that is shown in part only, else both are 0.
    """

    text: str
    first: int
    last: int
    lines: int
    next_line: int = 0
    next_column: int = 0
    column: int = 0
    to: int = 0

    def title(self, path: str) -> str:
        """One line that says what is shown and how to go on."""
        if self.lines == 0:
            return f"{path}: empty file"
        if self.to:
            shown = f"line {self.first} of {self.lines}, characters {self.column}-{self.to}"
        else:
            shown = f"lines {self.first}-{self.last} of {self.lines}"
        if not self.next_line:
            return f"{path}: {shown}; the end"
        column = f", column={self.next_column}" if self.next_column > 1 else ""
        return f"{path}: {shown}; go on with offset={self.next_line}{column}"


def page_of(
    text: str, *, offset: int = 1, limit: int = LINES, column: int = 1, characters: int = CHARACTERS
) -> Page:
    """The page that starts at line `offset`, character `column` of it. Put together, the pages are the text.

    A page has at most `limit` lines and `characters` characters. Raises NoSuchPlace with the number of lines there are.
    """
    lines = _lines(text)
    count = len(lines)
    if not count:
        return Page(text="", first=0, last=0, lines=0)
    if offset > count:
        raise NoSuchPlace(f"it has {count} lines, so there is no line {offset}")
    first = lines[offset - 1]
    if column > len(first):
        raise NoSuchPlace(f"its line {offset} has {len(first)} characters, so there is no character {column}")
    if column > 1 or len(first) > characters:
        return _part(first, offset, column, count, characters)
    return _whole(lines, offset, limit, characters)


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds only: other separators are characters like any other."""
    pieces = text.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _part(line: str, offset: int, column: int, count: int, characters: int) -> Page:
    shown = line[column - 1 : column - 1 + characters]
    to = column - 1 + len(shown)
    after = (offset, to + 1) if to < len(line) else (offset + 1, 1)
    if after[0] > count:
        after = (0, 0)
    return Page(
        text=shown,
        first=offset,
        last=offset,
        lines=count,
        next_line=after[0],
        next_column=after[1],
        column=column,
        to=to,
    )


def _whole(lines: list[str], offset: int, limit: int, characters: int) -> Page:
    taken, size = 0, 0
    for line in lines[offset - 1 : offset - 1 + limit]:
        if size + len(line) > characters:
            break
        taken, size = taken + 1, size + len(line)
    last = offset - 1 + taken
    shown = "".join(lines[offset - 1 : last])
    more = last + 1 if last < len(lines) else 0
    return Page(
        text=shown, first=offset, last=last, lines=len(lines), next_line=more, next_column=1 if more else 0
    )
