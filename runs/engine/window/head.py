"""What stands first after an edit: goal, the person's messages, pins, notes, episode. Made by code, then archived."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from .. import tokens
from ..events import Episode, Form, Item, Note
from ..messages import Author, Kind, Message, Role, text
from .lines import is_thinking
from .versions import Entry

SECTIONS = ("decisions", "pending", "facts", "errors")
CONTINUE = "Continue the work."
PERSONS_SHARE = 0.10
"""Of the limit: what a person's messages may take together before the oldest of them become previews (W8)."""

ORIGINALS = "The originals are in the archive: recall(query), read_archive(turn)."


def kept_first(entries: Iterable[Entry], previews: Collection[int] = ()) -> list[Item]:
    """The goal, everything a person wrote and the pins, in their order: verbatim in every version (W8). `previews`:
    messages of a person that have to give way to newer ones."""
    known = list(entries)
    goal = [entry.item for entry in known if entry.message.kind is Kind.GOAL]
    said = [_said(entry, previews) for entry in known if entry.message.kind is Kind.SAY]
    pins = [without_thinking(entry) for entry in known if entry.pinned and not entry.message.is_persons]
    return [*goal, *said, *pins]


def _said(entry: Entry, previews: Collection[int]) -> Item:
    form = Form.PREVIEW if entry.message.number in previews else entry.form
    return Item(message=entry.message.number, form=form, pinned=entry.pinned)


def crowding(said: Sequence[tuple[Entry, int, int]], room: int) -> set[int]:
    """Numbers of the oldest messages of a person that become previews so that all fit into `room` tokens.

    `said`: entries, oldest first, with their tokens as they stand and as a preview. The newest and the pinned stay.
    """
    chosen: set[int] = set()
    total = sum(size for _, size, _ in said)
    for entry, size, small in said[:-1]:
        if total <= room:
            break
        if entry.form is Form.FULL and not entry.pinned and small < size:
            chosen.add(entry.message.number)
            total -= size - small
    return chosen


def notes_text(notes: Iterable[Note], limit: int) -> str:
    """Notes by section, open ones first; the newest stay when they are more than `limit` tokens."""
    chosen: list[Note] = []
    spent = 0
    for note in sorted(notes, key=lambda note: (note.state != "open", -note.number)):
        spent += tokens.estimate(note.text) + 6
        if spent > limit:
            break
        chosen.append(note)
    lines: list[str] = []
    for section in dict.fromkeys([*SECTIONS, *(note.section for note in chosen)]):
        mine = sorted((note for note in chosen if note.section == section), key=lambda note: note.number)
        if mine:
            lines += [f"{section}:", *(f"- [{note.number}, {note.state}] {note.text}" for note in mine)]
    return "\n".join(lines)


def head(
    number: int, turn: int, notes: Sequence[Note], notes_limit: int, episode: Episode | None = None
) -> list[Message]:
    """The product's blocks of a new head, numbered from `number`: notes, episode, and the line to go on."""
    bodies: list[tuple[Kind, str]] = []
    listed = notes_text(notes, notes_limit)
    if listed:
        bodies.append((Kind.NOTES, f"<notes>\n{listed}\n</notes>"))
    if episode is not None:
        bodies.append((Kind.EPISODE, episode_text(episode)))
    bodies.append((Kind.NOTICE, CONTINUE))
    return [_product(number + at, turn, kind, body) for at, (kind, body) in enumerate(bodies)]


def episode_text(episode: Episode) -> str:
    """The block of an episode. One that folds an earlier one reaches back to the first turn."""
    first = 1 if episode.folds else episode.first_turn
    ledger = f"\n<ledger>\n{episode.ledger}\n</ledger>" if episode.ledger else ""
    return f'<summary turns="{first}-{episode.last_turn}">\n{episode.text}{ledger}\n{ORIGINALS}\n</summary>'


def notice(number: int, turn: int, line: str) -> Message:
    return _product(number, turn, Kind.NOTICE, line)


def item_of(message: Message) -> Item:
    return Item(message=message.number)


def _product(number: int, turn: int, kind: Kind, body: str) -> Message:
    return Message(
        number=number,
        role=Role.USER,
        author=Author.PRODUCT,
        kind=kind,
        turn=turn,
        content=(text(body),),
        tokens=tokens.estimate(body) + tokens.PER_BLOCK,
    )


def without_thinking(entry: Entry) -> Item:
    """An answer behind an edit on an llm that binds thinking to its prefix: the thinking would be refused (W5)."""
    thinks = any(is_thinking(block) for block in entry.message.content)
    form = Form.CLEARED if thinks and entry.message.kind is Kind.ANSWER else entry.form
    return Item(message=entry.message.number, form=form, pinned=entry.pinned)
