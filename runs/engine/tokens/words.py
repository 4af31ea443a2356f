"""How many tokens a text has, estimated; never characters / 4.

A text falls into pieces (words, digits, marks, blanks, runs of one script, base64 and hex), each piece has a kind,
each kind a weight per piece and per character. The weights were fitted to the counts that ctok, a reconstruction of
the tokenizer of the llms from Opus 4.8 on, gives for prose in thirty languages, code in twenty, JSON, logs and dense
text. Older llms count about a quarter less in English; usage corrects that (window/gauge).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import fsum
from pathlib import Path

REMEMBERED = 100_000
"""Characters up to which a text's size is remembered: a turn asks for that of the same result half a dozen times."""

ASCII_MOST, MOST = 2, 5
"""No text has more tokens for each of its characters."""

_COMMON = frozenset(Path(__file__).with_name("common.txt").read_text(encoding="utf-8").split())
"""Words that most vocabularies hold whole: the commonest of a few languages, and of programs."""

_KINDS: Mapping[str, tuple[str, float, float]] = {
    "hex": (r"(?<![A-Za-z0-9])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,23}(?![A-Za-z0-9])", 0, 0.65),
    "hex_upper": (r"(?<![A-Za-z0-9])(?=[0-9A-F]*\d)(?=[0-9A-F]*[A-F])[0-9A-F]{7,23}(?![A-Za-z0-9])", 0, 0.68),
    "latin": (r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]{1,64}", 0, 0),
    "digits": (r" ?[0-9]{1,64}", 0, 0),
    "space": (r" (?! )", 0.285, 0),
    "spaces": (r"[ \t]{1,16}", 1.05, 0),
    "newline": (r"\n{1,32}", 1.0, 0),
    "mark": (r"[!-/:-@\[-`{-~]{1,256}", 0, 0),
    "cyrillic": (r"[\u0400-\u052f]{1,64}", 1.5, 0.155),
    "greek": (r"[\u0370-\u03ff\u1f00-\u1fff]{1,64}", 1.2, 0.55),
    "arabic": (r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]{1,64}", 0.72, 0.58),
    "hebrew": (r"[\u0590-\u05ff]{1,64}", 0, 0.775),
    "devanagari": (r"[\u0900-\u097f]{1,64}", 0, 0.81),
    "indic": (r"[\u0980-\u0dff]{1,64}", 0, 1.06),
    "thai": (r"[\u0e00-\u0e7f]{1,64}", 1.8, 0.89),
    "southeast": (r"[\u0e80-\u109f\u1780-\u17ff]{1,64}", 1.0, 1.15),
    "ethiopic": (r"[\u1200-\u139f]{1,64}", 1.0, 1.25),
    "caucasian": (r"[\u0530-\u058f\u10a0-\u10ff]{1,64}", 0, 0.765),
    "han": (r"[\u3400-\u9fff\uf900-\ufaff]{1,64}", 1.5, 1.02),
    "kana": (r"[\u3040-\u30ff]{1,64}", 0, 0.575),
    "hangul": (r"[\uac00-\ud7af\u1100-\u11ff]{1,64}", 1.1, 0.92),
    "wide": (r"[\uff21-\uff3a\uff41-\uff5a]{1,64}", 1.0, 2.3),
    "wide_mark": (r"[\u3000-\u303f\uff00-\uff20\uff3b-\uff40\uff5b-\uff64]{1,64}", 0, 0.95),
    "half": (r"[\uff65-\uffdc]{1,64}", 0, 2.0),
    "jamo": (r"[\u3100-\u31ff]{1,64}", 1.5, 3.0),
    "far": (
        r"[\u0250-\u02ff\u0700-\u074f\u0780-\u08ff\u13a0-\u177f\u1800-\u1c8f\u1cc0-\u1cff\u2c00-\u2dff"
        r"\ua000-\uabff]{1,64}",
        1.0,
        2.6,
    ),  # fmt: skip
    "unseen": (r"[\u200e\u200f\u2028-\u206f]", 2.9, 0),
    "line": (r"[\u2500\u2501\u2550]{1,128}", 0.5, 0.25),
    "box": (r"[\u2502-\u259f]", 1.6, 0),
    "styled": (r"[\U0001d400-\U0001d7ff\U00020000-\U0003ffff]{1,64}", 0, 4.0),
    "beyond": (r"[\U00010000-\U0010ffff]{1,64}", 2.0, 2.6),
    "braille": (r"[\u2800-\u28ff\u2e80-\u2fff\u3200-\u33ff]", 3.0, 0),
    "symbol": (r"[\u2070-\u24ff\u25a0-\u2bff]", 1.9, 0),
    "other": (r"[^\x00-\x7f]", 0.6, 0),
    "control": (r"[\x00-\x1f\x7f]", 0.6, 0),
}
"""Kind: pattern, tokens per piece, tokens per character. Lengths are bounded so that what is remembered is."""

_PLAIN = "|".join(pattern for pattern, _, _ in _KINDS.values())
_LONG = r"[A-Za-z0-9+/_-]{24,512}={0,2}"
_QUICK = r"[A-Za-z]{1,23}(?![A-Za-z0-9+/_\-\u00c0-\u024f\u1e00-\u1eff])| (?![ 0-9])"
"""What most of a text is made of, words and the blanks between them, tried first: the pieces are the same."""

_PIECE = re.compile(rf"{_QUICK}|{_LONG}|{_PLAIN}")
_PLAIN_PIECE = re.compile(_PLAIN)
_KIND = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, (pattern, _, _) in _KINDS.items()))
_IS_LONG = re.compile(_LONG)
_IS_HEX = re.compile(r"(?=.{0,40}\d)(?=.{0,40}[A-Fa-f])([0-9a-f]+|[0-9A-F]+)")
_IS_DENSE = re.compile(r"(?=.{0,40}\d)(?=.{0,40}[A-Z])(?=.{0,40}[a-z])")
_REPEAT = re.compile(r"(.)\1{3,}")
_ENDING = re.compile(r"(?:ing|tion|ions|ed|ly|ment|able|ers?|ent|ive|ity|ies|es|al|ous|ic|ation)$")
HEX, DENSE = 0.65, 0.94


def estimate(text: str) -> int:
    """Tokens of a text, rounded up; 0 for none."""
    return _remembered(text) if len(text) <= REMEMBERED else _weighed(text)


def fits(text: str, most: int) -> bool:
    """Whether a text has at most `most` tokens. One that is too short for more is not weighed."""
    return len(text) * (ASCII_MOST if text.isascii() else MOST) <= most or estimate(text) <= most


def _weighed(text: str) -> int:
    """Exact sums: those of Python 3.12 round otherwise than those of 3.11, and markers say these numbers."""
    return int(fsum(map(_piece, _PIECE.findall(text))) + 0.999)


_remembered = lru_cache(maxsize=512)(_weighed)


@lru_cache(maxsize=16_384)
def _piece(piece: str) -> float:
    if _IS_LONG.fullmatch(piece):
        return _long(piece)
    return _plain(piece)


def _long(piece: str) -> float:
    """Base64 and digests; a path or a long name is made of plain pieces after all."""
    if _IS_HEX.fullmatch(piece):
        return HEX * len(piece)
    if _IS_DENSE.match(piece):
        return DENSE * len(piece)
    return fsum(map(_plain, _PLAIN_PIECE.findall(piece)))


def _plain(piece: str) -> float:
    found = _KIND.match(piece)
    kind = found.lastgroup if found and found.lastgroup else "other"
    if kind == "latin":
        return _word(piece)
    if kind == "digits":
        return _digits(piece)
    if kind == "mark":
        return _marks(piece)
    _, each, character = _KINDS[kind]
    return each + character * len(piece)


def _word(word: str) -> float:
    """A word of Latin letters: whole where it is common, else by length, case and rare letters."""
    size = len(word)
    if not word.isascii() or not (word.islower() or word.isupper() or word[1:].islower()):
        caps = sum("A" <= letter <= "Z" for letter in word)
        accents = fsum(map(_accent, word))
        return 0.466 * size + 0.17 * caps + accents
    if word.isupper():
        return 0.46 + 0.66 * size if size > 1 else 1.4
    if word.lower() in _COMMON:
        return 0.73 if word.islower() else 0.98
    if size <= 2:
        return 1.6
    rare = 0.16 * sum(map(word.count, "jkqwxyz"))
    if size > 4 and _ENDING.search(word):
        return 0.29 * size + 0.27 * max(0, size - 10) + rare
    if word.islower():
        return 0.68 + 0.29 * size + 0.23 * max(0, size - 8) + 0.4 * max(0, size - 20) + rare
    return 1.9 + 0.46 * size


def _accent(letter: str) -> float:
    """What a letter costs more than a plain one: rare ones are spelled byte by byte."""
    if letter <= "\u017f":
        return 0.12 if letter > "\x7f" else 0.0
    return 0.5 if letter >= "\u1e00" or letter in "ơưƠƯ" else 2.4


def _digits(piece: str) -> float:
    """By threes; the blank before a number is a token of its own."""
    digits = piece.lstrip(" ")
    blank = 1.2 if digits != piece else 0.0
    return blank - (-len(digits) // 3)


def _marks(piece: str) -> float:
    """Punctuation is dense; a line of dashes is not."""
    total = 0.58 + 0.41 * len(piece)
    for run in _REPEAT.finditer(piece):
        total += 2.0 - 0.3 * len(run[0])
    return max(total, 0.58)
