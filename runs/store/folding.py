"""Folding: how text and queries become the same tokens (contracts.md, Search).

NFKC, accents stripped, casefold; CJK as overlapping bigrams; a path or identifier also in pieces:
`OrderService.reserve_stock` is found by itself, by `order service`, by `reserve_stock` and by `stock`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 64
"""Characters of a token that count; a base64 body is no word."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"

_WORD = re.compile(r"\w+(?:[./-]+\w+)*")
_CJK_RUN = re.compile(f"([{CJK}]+)")
_PIECE = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold(text: str) -> str:
    """The text as the index keeps it: tokens with a space between."""
    return " ".join(token for word in words(text) for token in word)


def words(text: str) -> Iterator[list[str]]:
    """Each word's tokens in order: itself first, then its pieces when it has any."""
    plain = text if text.isascii() else strip(text)
    for match in _WORD.finditer(plain):
        yield from _tokens(match.group())


def strip(text: str) -> str:
    """NFKC without accents. Case stays, for the humps of identifiers."""
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(char for char in apart if not _is_accent(char)))


def _is_accent(char: str) -> bool:
    """Combining marks, but not the two that make another Japanese syllable."""
    return unicodedata.combining(char) != 0 and char not in "\u3099\u309a"


def bigrams(run: str) -> list[str]:
    """Overlapping pairs, then the last character: so that any one is found as the start of a token."""
    return [run[index : index + 2] for index in range(len(run))]


def _tokens(word: str) -> Iterator[list[str]]:
    if word.isascii():
        yield _identifier(word)
        return
    for part in _CJK_RUN.split(word):
        if _CJK_RUN.fullmatch(part):
            yield bigrams(part)
        elif part.strip("./-_"):
            yield _identifier(part.strip("./-"))


def _identifier(word: str) -> list[str]:
    whole = word.casefold()[:LONGEST]
    pieces = [piece.casefold()[:LONGEST] for part in _PIECE.findall(word) for piece in _HUMP.split(part)]
    return [whole] if pieces == [whole] or not pieces else [whole, *pieces]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a word of a query may stand in a text: tokens side by side, or (`starts`) as a token's start."""

    tokens: tuple[str, ...]
    starts: bool = False


def forms(word: list[str]) -> list[Form]:
    """The forms of a word of a query, any of which is a hit."""
    if _CJK_RUN.fullmatch(word[0]):
        return [Form(tokens=tuple(word[:-1]))] if len(word) > 1 else [Form(tokens=(word[0],), starts=True)]
    whole, pieces = word[0], tuple(word[1:])
    return [Form(tokens=(whole,)), Form(tokens=pieces)] if pieces else [Form(tokens=(whole,))]
