"""What stands first after an edit."""

from __future__ import annotations

from dataclasses import replace

from runs.engine.events import Episode, Form, Note
from runs.engine.messages import Author, Kind, texts_of
from runs.engine.middleware.base import Asked
from runs.engine.window.head import CONTINUE, crowding, head, kept_first, notes_text, without_thinking
from tests.cases.ground import Ground

from ..stage import GOAL, laid, lines, said, talk

EPISODE = Episode(
    number=2, first_turn=3, last_turn=57, text="It was found.", ledger="values: KEY-1: x", tokens=20
)


def note(number: int, words: str, *, section: str = "facts", state: str = "open") -> Note:
    return Note(
        number=number, revision=1, section=section, text=words, state=state, author="llm", by="", turn=number
    )


def test_the_head_is_notes_then_episode_then_the_line_to_go_on() -> None:
    messages = head(40, 9, [note(1, "the lamp is brass")], 500, EPISODE)
    assert [message.kind for message in messages] == [Kind.NOTES, Kind.EPISODE, Kind.NOTICE]
    assert [message.number for message in messages] == [40, 41, 42]
    assert {message.author for message in messages} == {Author.PRODUCT}
    assert texts_of(messages[-1].content) == CONTINUE
    assert texts_of(messages[0].content).startswith("<notes>\nfacts:\n- [1, open] the lamp is brass")


def test_an_episode_says_which_turns_it_is_of_and_where_the_originals_are() -> None:
    body = texts_of(head(1, 9, [], 500, EPISODE)[0].content)
    assert body.startswith('<summary turns="3-57">\nIt was found.\n<ledger>\nvalues: KEY-1: x\n</ledger>')
    assert body.endswith("The originals are in the archive: recall(query), read_archive(turn).\n</summary>")
    folding = texts_of(head(1, 9, [], 500, replace(EPISODE, folds=1, ledger=""))[0].content)
    assert folding.startswith('<summary turns="1-57">')
    assert "<ledger>" not in folding


def test_without_notes_and_episode_only_the_line_to_go_on_is_written() -> None:
    assert [message.kind for message in head(1, 0, [], 500)] == [Kind.NOTICE]


def test_open_notes_come_first_and_the_newest_stay_when_there_are_too_many() -> None:
    notes = [note(at, f"fact number {at}", state="done" if at % 2 else "open") for at in range(1, 41)]
    listed = notes_text(notes, 150)
    assert "[40, open]" in listed
    assert "done" not in listed
    assert "[2, open]" not in listed
    assert "[39, done]" in notes_text(notes[-2:], 150)


def test_sections_stand_in_their_order() -> None:
    listed = notes_text([note(1, "b", section="errors"), note(2, "a", section="decisions")], 100)
    assert listed == "decisions:\n- [2, open] a\nerrors:\n- [1, open] b"


def test_goal_persons_messages_and_pins_come_in_this_order_whatever_the_iterator() -> None:
    ground = laid(talk(2))
    said(ground, "JSON only")
    shown = ground.desk.window.entries
    pinned = [replace(entry, pinned=entry.message.number == 3) for entry in shown]
    assert [item.message for item in kept_first(entry for entry in pinned)] == [1, 6, 3]


def test_an_answer_whose_prefix_changes_loses_its_thinking_and_nothing_else_does() -> None:
    answers = [
        entry for entry in laid(talk(1, thinking=True)).desk.window if entry.message.kind is Kind.ANSWER
    ]
    assert without_thinking(answers[0]).form is Form.CLEARED
    plain = laid(talk(1)).desk.window.entries
    assert [without_thinking(entry).form for entry in plain] == [Form.FULL] * 3


def crowded(words: int, count: int = 6) -> Ground:
    ground = laid(talk(3, size=60), limit=20_000, replies=["Short."])
    for at in range(count):
        said(ground, f"Rule {at}: " + lines(f"r{at}", words))
    return ground


def forms(ground: Ground) -> list[Form]:
    return [entry.form for entry in ground.desk.window if entry.message.kind is Kind.SAY]


def test_a_persons_messages_within_a_tenth_of_the_limit_stand_verbatim() -> None:
    ground = crowded(25)
    ground.take(ground.technique("compact").compact(Asked(keep=0)))
    assert forms(ground) == [Form.FULL] * 6


def test_beyond_a_tenth_of_the_limit_the_oldest_become_previews_with_their_files() -> None:
    ground = crowded(60)
    ground.take(ground.technique("compact").compact(Asked(keep=0)))
    found = forms(ground)
    assert found[0] is Form.PREVIEW
    assert found[-1] is Form.FULL
    assert found == sorted(found, key=lambda form: form is not Form.PREVIEW)
    previews = found.count(Form.PREVIEW)
    files = ground.desk.files
    assert len(files.names()) == previews
    assert any("Rule 0: r0 line 0" in str(files.read(name)) for name in files.names())
    sent = ground.request()["messages"][0]["content"]
    assert sent[0]["text"] == GOAL
    assert "@run/results/" in sent[1]["text"]


def test_the_newest_and_the_pinned_never_give_way() -> None:
    entries = [entry for entry in crowded(60).desk.window if entry.message.kind is Kind.SAY]
    sizes = [(entry, 500, 100) for entry in entries]
    numbers = [entry.message.number for entry in entries]
    assert crowding(sizes, 0) == set(numbers[:-1])
    pinned = [(replace(entry, pinned=at == 0), 500, 100) for at, entry in enumerate(entries)]
    assert crowding(pinned, 2_000) == set(numbers[1:4])
    assert crowding(sizes, 3_000) == set()
