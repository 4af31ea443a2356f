"""The inspector's tabs: notes, episodes, policy, and the log of what was decided."""

from __future__ import annotations

from runs.engine import events as ev
from runs.engine.policy import preset
from runs.present import inspector, log
from tests import story
from tests.present.conftest import READ, Scene


def _note(scene: Scene, number: int, revision: int = 1, state: str = "open", section: str = "facts") -> None:
    note = ev.Note(
        number=number,
        revision=revision,
        section=section,
        text=f"note {number}.{revision}",
        state=state,
        author="llm",
        by="",
        turn=scene.turn,
    )
    scene.tell(ev.NoteChanged(turn=scene.turn, note=note))


def test_notes_show_their_newest_revision_by_section_open_ones_first(scene: Scene) -> None:
    scene.turns(1)
    _note(scene, 1)
    _note(scene, 2, state="done")
    _note(scene, 3, section="decisions")
    _note(scene, 2, revision=2, state="done")
    shown = inspector.notes(scene.fresh)
    assert [section.name for section in shown.sections] == ["decisions", "facts"]
    assert [note.text for note in shown.sections[1].notes] == ["note 1.1", "note 2.2"]
    assert (shown.count, shown.open) == (3, 2)


def test_notes_of_the_past_are_those_of_its_turn(scene: Scene) -> None:
    scene.turns(1)
    _note(scene, 1)
    scene.turns(1)
    _note(scene, 1, revision=2)
    assert inspector.notes(scene.fresh, 1).sections[0].notes[0].revision == 1


def test_episodes_say_which_one_took_them_in(scene: Scene) -> None:
    for _ in range(2):
        scene.turns(8, READ)
        scene.compact()
    newest, first = inspector.episodes(scene.fresh)
    assert newest.episode.number == 2
    assert newest.folded == 0
    assert first.folded == 2
    assert first.edit is not None


def test_the_policy_says_its_places_on_the_limit() -> None:
    thresholds, others = inspector.settings(preset("demo"), 24_000)
    assert [(setting.name, setting.value) for setting in thresholds][1] == ("Compact at", "60 % 14.4k")
    assert ("Limit", "24,000") in [(setting.name, setting.value) for setting in others]


def _check(scene: Scene, technique: str, share: float, verdict: str = "not fired", why: str = "") -> None:
    why = why or f"{share * 100:.0f} % < 60 %"
    scene.tell(
        ev.Checked(turn=scene.turn, technique=technique, value=share, threshold=0.6, verdict=verdict, why=why)
    )


def test_checks_that_did_not_fire_are_shown_and_repeats_are_one_line(scene: Scene) -> None:
    for _ in range(6):
        scene.turns(1)
        _check(scene, "clear_results", 0.3)
        _check(scene, "compact", 0.31)
    lines, counts = log.log(scene.fresh)
    assert [line.title for line in lines[:2]] == [
        "Compact: checked, not fired",
        "Clear results: checked, not fired",
    ]
    assert lines[0].value == "31 % < 60 %"
    assert (lines[2].times, lines[2].first_turn, lines[2].turn) == (10, 1, 5)
    assert counts["not-fired"] == 12


def test_a_check_that_held_back_says_why(scene: Scene) -> None:
    scene.turns(1)
    _check(scene, "compact", 0.7, why="only 2 new turns since the last compaction")
    lines, _ = log.log(scene.fresh)
    assert lines[0].more == "only 2 new turns since the last compaction"


def test_edits_stand_in_the_log_with_what_they_moved(scene: Scene) -> None:
    scene.turns(9, READ)
    scene.compact()
    lines, counts = log.log(scene.fresh, "fired")
    assert lines[0].title == "Compaction 1"
    assert "→" in lines[0].value
    assert counts["fired"] == 1


def test_the_log_of_the_past_ends_with_its_turn(scene: Scene) -> None:
    for _ in range(4):
        scene.turns(1)
        _check(scene, "compact", 0.3)
    lines, _ = log.log(scene.fresh, "all", 2)
    assert max(line.turn for line in lines) == 2


def test_a_recall_says_what_was_asked(scene: Scene) -> None:
    scene.take(story.Step(words="I look it up.", calls=(), recalls="resume file"))
    lines, _ = log.log(scene.fresh)
    assert ("Recall", "resume file", "2 hits") in [(line.title, line.more, line.value) for line in lines]
