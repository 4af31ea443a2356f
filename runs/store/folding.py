"""Folding: how text and queries become the same tokens (contracts.md, Search).

Compatibility forms and accents go, case goes, CJK becomes overlapping bigrams, paths and identifiers come in pieces:
`src/OrderService.py` is the tokens `src order service py` side by side, and further down `src orderservice py`. So it
is found as it stands, by any of its pieces, and however its humps are written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LONGEST = 64
"""Characters of a token that count; a base64 body is no word."""

KNOWN = 16384
"""Words whose tokens are remembered."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"

_CJK_RUN = re.compile(f"([{CJK}]+)")
_PIECE = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^\w./-]+")
_SPACES = {number: " " for number in range(128) if not chr(number).isalnum() and chr(number) not in "_./-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a word of a query may stand in a text: tokens side by side, or (`starts`) as a token's start."""

    tokens: tuple[str, ...]
    starts: bool = False


class Memo(dict[str, str]):
    """What is made of words, as far as they were met: most repeat, and then a text is a loop in C."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, word: str) -> str:
        made = self.make(word)
        if len(word) <= LONGEST:
            if len(self) >= KNOWN:
                self.clear()
            self[word] = made
        return made


def fold(text: str) -> str:
    """The text as the index keeps it: tokens with a space between, then the humped words once more, without humps."""
    found = _spaced(text).split()
    capital = [word for word in dict.fromkeys(found) if not word.islower()]
    return " ".join(filter(None, (*map(_HUMPED.__getitem__, found), *map(_FLAT.__getitem__, capital))))


def words(query: str) -> Iterator[list[Form]]:
    """Each word of a query as its forms, any of which is a hit."""
    for part in strip(query).split():
        for run in _CJK_RUN.split(part):
            if _CJK_RUN.fullmatch(run):
                yield [_cjk(run)]
            elif forms := [form for form in dict.fromkeys(_forms(run)) if form]:
                yield [Form(tokens=form) for form in forms]


def tokens(text: str) -> set[str]:
    """Everything by which a text may be found, without order: to see which lines hold a hit."""
    return set(fold(text).split())


def _forms(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces of a word, and those without regard to humps."""
    flat = _PIECE.findall(word)
    pieces = [piece for whole in flat for piece in _HUMP.sub(" ", whole).split()]
    return tuple(map(_token, pieces)), tuple(map(_token, flat))


def _humped(word: str) -> str:
    if word.isascii() and word.islower() and word.isalnum() and len(word) <= LONGEST:
        return word
    return " ".join(_forms(word)[0])


def _flat(word: str) -> str:
    """Nothing for a word without humps."""
    pieces, flat = _forms(word)
    return " ".join(flat) if flat != pieces else ""


_HUMPED, _FLAT = Memo(_humped), Memo(_flat)


def _token(piece: str) -> str:
    return piece.casefold()[:LONGEST]


def _spaced(text: str) -> str:
    """Only words and the marks that hold paths together; CJK as its bigrams."""
    if text.isascii():
        return text.translate(_SPACES)
    return _NO_WORD.sub(" ", _CJK_RUN.sub(lambda match: f" {' '.join(bigrams(match.group()))} ", strip(text)))


def strip(text: str) -> str:
    """Compatibility forms and accents gone. Case stays, for the humps of identifiers."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(char for char in apart if not _is_accent(char)))


def bigrams(run: str) -> list[str]:
    """Overlapping pairs, then the last character: so that any one is found as the start of a token."""
    return [run[index : index + 2] for index in range(len(run))]


def _cjk(run: str) -> Form:
    return Form(tokens=tuple(bigrams(run)[:-1])) if len(run) > 1 else Form(tokens=(run,), starts=True)


def _is_accent(char: str) -> bool:
    """Combining marks, but not the two that make another Japanese syllable."""
    return unicodedata.combining(char) != 0 and char not in "\u3099\u309a"
