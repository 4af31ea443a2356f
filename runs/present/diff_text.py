"""The difference of two texts, line by line and inside changed lines word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest

MAX_LINES = 400
"""Beyond this many lines a side, the middle is left out and counted: difflib's time grows with the square."""

AROUND = 3
WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Side(StrEnum):
    SAME = "same"
    GONE = "gone"
    NEW = "new"
    SKIP = "skip"


SIGNS = {Side.SAME: " ", Side.GONE: "-", Side.NEW: "+", Side.SKIP: " "}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A piece of a line; `changed` pieces are what differs from the line's counterpart."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a diff. A `skip` line stands for lines left out and says how many."""

    side: Side
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    @property
    def sign(self) -> str:
        return SIGNS[self.side]


def diff(before: str, after: str) -> list[Line]:
    """All changed lines with three unchanged lines around each change."""
    old, new = cut(before.splitlines()), cut(after.splitlines())
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [line for group in _groups(matcher, len(old)) for line in _lines(group, old, new)]


def one_sided(text: str, side: Side) -> list[Line]:
    """A text that stands on one side only."""
    return [_line(line, Side.SKIP if line.startswith(SKIPPED) else side) for line in cut(text.splitlines())]


SKIPPED = "\u22ef "


def cut(lines: Sequence[str]) -> list[str]:
    """At most MAX_LINES lines: head and tail, and a line that says how many were left out."""
    if len(lines) <= MAX_LINES:
        return list(lines)
    half = MAX_LINES // 2
    return [*lines[:half], f"{SKIPPED}{len(lines) - 2 * half:,} lines not shown", *lines[-half:]]


Opcode = tuple[str, int, int, int, int]


def _groups(matcher: SequenceMatcher[str], lines: int) -> Iterator[Opcode]:
    """Opcodes in reading order; unchanged stretches shrink to what stands next to a change."""
    opcodes = matcher.get_opcodes()
    for number, (tag, i, end_i, j, end_j) in enumerate(opcodes):
        if tag != "equal" or end_i - i <= 2 * AROUND + 1:
            yield tag, i, end_i, j, end_j
            continue
        head = AROUND if number else 0
        tail = AROUND if number + 1 < len(opcodes) else 0
        yield "equal", i, i + head, j, j + head
        yield "skip", i + head, end_i - tail, j + head, end_j - tail
        yield "equal", end_i - tail, end_i, end_j - tail, end_j


def _lines(opcode: Opcode, old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    tag, i, end_i, j, end_j = opcode
    if tag == "equal":
        yield from (_line(line, Side.SAME) for line in old[i:end_i])
    elif tag == "skip":
        yield _line(f"{SKIPPED}{end_i - i:,} lines the same", Side.SKIP)
    else:
        yield from _changed(old[i:end_i], new[j:end_j])


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    gone, came = [], []
    for left, right in zip_longest(old, new):
        if left is None or right is None:
            gone += [_line(left, Side.GONE)] if left is not None else []
            came += [_line(right, Side.NEW)] if right is not None else []
            continue
        left_spans, right_spans = words(left, right)
        gone.append(Line(side=Side.GONE, spans=left_spans))
        came.append(Line(side=Side.NEW, spans=right_spans))
    yield from gone
    yield from came


def words(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines in pieces. Lines with little in common are one unmarked piece: marks would only be noise."""
    old, new = WORD.findall(left), WORD.findall(right)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if max(len(old), len(new)) > 300 or matcher.ratio() < 0.5:
        return (Span(text=left),), (Span(text=right),)
    lefts, rights = [], []
    for tag, i, end_i, j, end_j in matcher.get_opcodes():
        lefts.append(Span(text="".join(old[i:end_i]), changed=tag != "equal"))
        rights.append(Span(text="".join(new[j:end_j]), changed=tag != "equal"))
    return tuple(s for s in lefts if s.text), tuple(s for s in rights if s.text)


def _line(text: str, side: Side) -> Line:
    return Line(side=side, spans=(Span(text=text),))


IDENTIFIER = re.compile(
    r"""
    (?:[\w.-]+/)+[\w.-]+(?::\d+)?      # paths, with a line number
    | \b(?=[\w.-]*[A-Za-z])\w+(?:[._-]\w+)+(?:\(\))?  # dotted, dashed and snake names, file names
    | \b[a-z]+(?:[A-Z]\w*)+            # camelCase
    | \b[A-Z]{2,}[A-Z0-9_]*\b          # CONSTANTS
    | \b\d[\d.,:]*\d\b                 # numbers of two digits and more
    """,
    re.VERBOSE,
)


def identifiers(text: str) -> list[str]:
    """Names, paths and numbers of a text, each once, in order: what a summary most easily loses."""
    return list(dict.fromkeys(IDENTIFIER.findall(text)))


def marked(text: str, lost: Sequence[str], side: Side = Side.GONE) -> list[Line]:
    """A one-sided text whose lost identifiers stand out."""
    if not lost:
        return one_sided(text, side)
    pattern = re.compile("|".join(re.escape(word) for word in sorted(lost, key=len, reverse=True)))
    return [Line(side=line.side, spans=tuple(_spans(line.text, pattern))) for line in one_sided(text, side)]


def _spans(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    end = 0
    for match in pattern.finditer(text):
        if match.start() > end:
            yield Span(text=text[end : match.start()])
        yield Span(text=match.group(), changed=True)
        end = match.end()
    if end < len(text) or not text:
        yield Span(text=text[end:])
