"""Folding: how text and queries become the same tokens (contracts.md, Search).

Compatibility forms and accents go, case goes, CJK becomes overlapping bigrams, paths and identifiers come in pieces:
`src/OrderService.py` is the tokens `src order service py` side by side, and further down `src orderservice py`. So it
is found as it stands, by any of its pieces, and however its humps are written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 64
"""Characters of a token that count; a base64 body is no word."""

MOST_OF_WORD = 400
"""Characters of a word that count, for the same reason."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"

_CJK_RUN = re.compile(f"([{CJK}]+)")
_PIECE = re.compile(r"[^\W_]+")
_TOO_LONG = re.compile(rf"[^\W_]{{{LONGEST + 1}}}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^\w./-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a word of a query may stand in a text: tokens side by side, or (`starts`) as a token's start."""

    tokens: tuple[str, ...]
    starts: bool = False


def fold(text: str) -> str:
    """The text as the index keeps it: tokens with a space between. All of it in few passes over the whole text."""
    plain = text if text.isascii() else _CJK_RUN.sub(_spaced_bigrams, strip(text))
    return " ".join(
        [*pieces(plain), *(token for word in dict.fromkeys(_humped(plain)) for token in flat(word))]
    )


def words(query: str) -> Iterator[list[Form]]:
    """Each word of a query as its forms, any of which is a hit."""
    for part in strip(query).split():
        for run in _CJK_RUN.split(part):
            if _CJK_RUN.fullmatch(run):
                yield [_cjk(run)]
            elif found := pieces(run):
                yield [Form(tokens=form) for form in dict.fromkeys([tuple(found), tuple(flat(run))])]


def tokens(text: str) -> set[str]:
    """Everything by which a text may be found, without order: to see which lines hold a hit."""
    return set(fold(text).split())


def pieces(plain: str) -> list[str]:
    found = _PIECE.findall(_HUMP.sub(" ", plain).casefold())
    return found if _TOO_LONG.search(plain) is None else [_cut(piece) for piece in found]


def flat(word: str) -> list[str]:
    """The pieces of a word without regard to humps."""
    return [_cut(piece.casefold()) for piece in _PIECE.findall(word)]


def _humped(plain: str) -> Iterator[str]:
    """The words that have humps. Linear, whatever the text: from each hump to the ends of its word, each word once."""
    end = 0
    for hump in _HUMP.finditer(plain):
        if hump.start() < end:
            continue
        start = hump.start()
        while start > end and not _NO_WORD.match(plain[start - 1]):
            start -= 1
        after = _NO_WORD.search(plain, hump.start())
        end = after.start() if after else len(plain)
        yield plain[start : min(end, start + MOST_OF_WORD)]


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


def _spaced_bigrams(match: re.Match[str]) -> str:
    return f" {' '.join(bigrams(match.group()))} "


def _is_accent(char: str) -> bool:
    """Combining marks, but not the two that make another Japanese syllable."""
    return unicodedata.combining(char) != 0 and char not in "\u3099\u309a"


def _cut(token: str) -> str:
    return token[:LONGEST]
