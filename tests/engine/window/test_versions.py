"""A window is a version's items and every later message in full."""

from __future__ import annotations

import pytest

from runs.engine.events import Form, Item, Version
from runs.engine.messages import Author, Kind, Message, Role, text
from runs.engine.window.versions import Entry, Window, entries

from ..stage import use


def message(number: int, *blocks: object, kind: Kind = Kind.ANSWER) -> Message:
    content = tuple(blocks) or (text(f"message {number}"),)
    return Message(
        number=number, role=Role.ASSISTANT, author=Author.LLM, kind=kind, turn=number, content=content
    )  # type: ignore[arg-type]


SEVEN = {number: message(number) for number in range(1, 8)}
SHORT = Version(
    number=3, parent=2, edit=2, base=5, items=(Item(message=1), Item(message=4, form=Form.CLEARED))
)


def test_items_come_first_then_all_that_was_said_since() -> None:
    shown = entries(SHORT, SEVEN, 7)
    assert [entry.message.number for entry in shown] == [1, 4, 6, 7]
    assert [entry.form for entry in shown] == [Form.FULL, Form.CLEARED, Form.FULL, Form.FULL]


def test_a_past_window_is_the_same_function_of_its_version_and_reach() -> None:
    assert entries(SHORT, SEVEN, 6) == entries(SHORT, SEVEN, 7)[:3]
    assert [entry.message.number for entry in entries(SHORT, SEVEN, 5)] == [1, 4]


def test_a_message_that_the_archive_does_not_give_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        entries(SHORT, {1: SEVEN[1]}, 5)


def test_appending_reaches_further_and_writes_no_version() -> None:
    """Trap 8: item lists per turn cost 14 % of the bytes and 2.5 ms a turn."""
    window = Window(SHORT, [SEVEN[1], SEVEN[4]])
    assert window.upto == 5
    window.append(SEVEN[6])
    assert (window.upto, window.version) == (6, SHORT)
    assert [entry.message.number for entry in window] == [1, 4, 6]


def test_a_new_version_is_adopted_with_what_was_written_for_it() -> None:
    window = Window(SHORT, [SEVEN[1], SEVEN[4]])
    after = Version(number=4, parent=3, edit=3, base=6, items=(Item(message=1), Item(message=6)))
    window.adopt(after, [SEVEN[6]])
    assert [entry.message.number for entry in window] == [1, 6]
    assert window.upto == 6


def test_every_call_is_found_by_its_id() -> None:
    window = Window(SHORT, [message(1, use("a")), SEVEN[4]])
    window.append(message(6, use("b")))
    assert set(window.calls()) == {"a", "b"}


def test_an_entry_and_its_item_say_the_same() -> None:
    entry = Entry(message=SEVEN[2], form=Form.PREVIEW, pinned=True)
    assert entry.item == Item(message=2, form=Form.PREVIEW, pinned=True)
