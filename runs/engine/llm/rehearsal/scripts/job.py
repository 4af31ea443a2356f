"""A long and even job for measuring: N turns, each reads a piece of exactly 1,500 tokens; facts lie in some of them.

`rehearsal/job` has 300 turns, `rehearsal/job-60` has 60. Every fifteenth piece, from the fifth on, holds a fact:
by turns a keyed line (`KEY-105: …`) and a sentence in prose. A benchmark asks how many are still within reach.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import count
from ..script import Call, Script, Step

TURNS = 300
TOKENS = 1_500
LINES = 60
_FIRST, _EVERY = 5, 15
_WORDS = (
    *("amber", "basin", "cedar", "delta", "ember", "field", "grove", "harbor", "inlet", "juniper", "kettle"),
    *("lantern", "meadow", "needle", "orchard", "pebble", "quarry", "ridge", "saddle", "timber", "upland"),
    *(
        "valley",
        "willow",
        "yonder",
        "barley",
        "copper",
        "drift",
        "engine",
        "ferry",
        "gravel",
        "hinge",
        "island",
    ),
)
_PLACES = (
    *("north hall", "south hall", "old mill", "upper lock", "boat house", "east yard", "pump room"),
    *("grain loft", "west gate", "lime kiln"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact and the turn that reads it. `text` is what must be found again, word for word."""

    turn: int
    text: str
    keyed: bool


def facts(turns: int = TURNS) -> tuple[Fact, ...]:
    return tuple(_fact(index, turn) for index, turn in enumerate(range(_FIRST, turns + 1, _EVERY)))


def _fact(index: int, turn: int) -> Fact:
    number = 100 + turn
    if index % 2 == 0:
        return Fact(turn=turn, text=f"KEY-{number}: v{number * 7919 % 100_000:05d}", keyed=True)
    place = _PLACES[index // 2 % len(_PLACES)]
    said = f"For the record, the valve in the {place} opens at {number % 90 + 11} bar."
    return Fact(turn=turn, text=said, keyed=False)


def script(turns: int = TURNS) -> Script:
    return Script(
        name=f"job-{turns}",
        title=f"Read {turns} pieces",
        goal=f"Read the {turns} pieces one after the other and remember every fact in them.",
        length=turns,
        step=lambda turn: _step(turn, turns),
        lay_out=lambda path: _lay_out(path, turns),
    )


def _step(turn: int, turns: int) -> Step:
    if turn > turns:
        return Step(says=f"All {turns} pieces are read.")
    return Step(
        says=f"Piece {turn} of {turns}.", calls=(Call(name="read_file", input={"path": name_of(turn)}),)
    )


def name_of(turn: int) -> str:
    return f"pieces/{turn:04d}.txt"


def _lay_out(path: Path, turns: int) -> None:
    (path / "pieces").mkdir(parents=True, exist_ok=True)
    planted = {fact.turn: fact.text for fact in facts(turns)}
    for turn in range(1, turns + 1):
        (path / name_of(turn)).write_text(piece(turn, planted.get(turn, "")), encoding="utf-8")


def piece(turn: int, fact: str = "") -> str:
    """A text of LINES lines that makes TOKENS tokens together with the line read_file puts before it."""
    rest = TOKENS - count.text(f"{name_of(turn)}: lines 1-{LINES} of {LINES}; the end\n") - (LINES - 1)
    words = _words(turn)
    middle = [fact] if fact else []
    rest -= sum(count.text(line) for line in middle)
    lines = []
    for left in range(LINES - len(middle), 0, -1):
        line, spent = _line(words, rest // left)
        lines.append(line)
        rest -= spent
    return "\n".join([*lines[: LINES // 2], *middle, *lines[LINES // 2 :]])


def _line(words: Iterator[str], tokens: int) -> tuple[str, int]:
    """A line of about `tokens` tokens, and how many it really has; "a" fills what no longer word fits."""
    line: list[str] = []
    spent = 0
    while spent < tokens:
        word = next(words)
        cost = count.text(word)
        if spent + cost > tokens:
            word, cost = "a", 1
        line.append(word)
        spent += cost
    return " ".join(line), spent


def _words(turn: int) -> Iterator[str]:
    chosen = random.Random(turn)
    while True:
        yield chosen.choice(_WORDS)
