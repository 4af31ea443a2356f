"""The notebook: notes are taken, changed and read."""

from __future__ import annotations

from runs.engine.events import Note, NoteChanged

from .conftest import Bench


def test_a_note_gets_the_next_number(bench: Bench) -> None:
    assert (
        bench.says("take_note", section="decisions", text="Use SQLite: one file.")
        == "Noted: 1 [open] Use SQLite: one file."
    )
    result = bench("take_note", section="facts", text="port 8765")
    assert result.content == "Noted: 2 [open] port 8765"
    (event,) = result.events
    assert event == NoteChanged(
        turn=3,
        note=Note(
            number=2, revision=1, section="facts", text="port 8765", state="open", author="llm", by="", turn=3
        ),
    )


def test_the_same_note_is_not_taken_twice(bench: Bench) -> None:
    given = {"section": "facts", "text": "port 8765"}
    bench.call("toolu_x", "take_note", given)
    again = bench.call("toolu_x", "take_note", given)
    assert (again.content, again.events) == ("Note 1 says that already.", ())
    assert len(bench.notes) == 1


def test_a_retried_call_whose_note_was_never_stored_gets_the_same_number(bench: Bench) -> None:
    call = bench.toolbox.plan(
        3, "r-abcde", {"id": "x", "name": "take_note", "input": {"section": "facts", "text": "a"}}
    )
    first, second = (bench.toolbox.run(call, bench.context(call.key)) for _ in range(2))
    assert first == second


def test_a_note_can_be_reworded_closed_and_opened(bench: Bench) -> None:
    bench.says("take_note", section="pending", text="write the tests")
    assert bench.says("update_note", number=1, text="write two tests") == "Now: 1 [open] write two tests"
    assert bench.says("update_note", number=1, state="done") == "Now: 1 [done] write two tests"
    assert bench.notes[1].revision == 3
    assert bench.says("update_note", number=1, state="done").startswith("The note stands so already")
    assert bench.says("update_note", number=1, state="open", text=" ") == "Now: 1 [open] write two tests"
    assert bench.notes[1].section == "pending"


def test_reading_shows_all_or_one_section_with_what_is_done(bench: Bench) -> None:
    assert bench.says("read_notes") == "No notes yet. take_note writes one."
    bench.says("take_note", section="facts", text="a")
    bench.says("take_note", section="decisions", text="b")
    bench.says("update_note", number=1, state="done")
    assert bench.says("read_notes") == "decisions:\n2 [open] b\nfacts:\n1 [done] a"
    assert bench.says("read_notes", section="facts") == "facts:\n1 [done] a"
    assert bench.says("read_notes", section="errors") == "No notes yet. take_note writes one."


def test_a_persons_note_names_its_writer(bench: Bench) -> None:
    bench.notes[1] = Note(
        number=1, revision=2, section="facts", text="ask me", state="open", author="person", by="Ada", turn=1
    )
    assert "1 [open] ask me (by Ada)" in bench.says("read_notes")


def test_bad_input_is_refused(bench: Bench) -> None:
    assert "section" in bench.refuses("take_note", section="ideas", text="x")
    assert "blank" in bench.refuses("take_note", section="facts", text="  \n ")
    assert "text" in bench.refuses("take_note", section="facts", text="x" * 3000)
    assert "Nothing to change" in bench.refuses("update_note", number=1)
    assert "There is no note 7. Notes: none yet." in bench.refuses("update_note", number=7, state="done")
    bench.says("take_note", section="facts", text="x")
    assert "Notes: 1." in bench.refuses("update_note", number=7, state="done")
