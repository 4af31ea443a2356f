"""Where the kept tail begins."""

from __future__ import annotations

from runs.engine.window.cut import Keep, is_closed, last_turn, legal_cuts, messages_start, tail_start
from runs.engine.window.versions import Entry

from ..stage import bot, gave, laid, lines, talk, use, user


def shown(spoken: list[dict[str, object]]) -> tuple[Entry, ...]:
    return laid(spoken).desk.window.entries


def starts(spoken: list[dict[str, object]], keep: Keep) -> int:
    desk = laid(spoken).desk
    return tail_start(desk.window.entries, desk.sizes(desk.window.entries), keep)


def test_a_cut_falls_just_before_an_answer_and_nowhere_else() -> None:
    assert legal_cuts(shown(talk(3))) == [1, 3, 5]
    assert legal_cuts(shown([user("go")])) == []
    assert last_turn(shown(talk(3))) == 5
    assert last_turn(shown([user("go")])) == 1


def test_as_much_as_fits_into_the_tokens_is_kept() -> None:
    size = sum(laid(talk(9)).desk.sizes(shown(talk(9))[-2:]))
    assert starts(talk(9), Keep(tokens=3 * size + 20, messages=0, cap=0)) == 13


def test_messages_are_kept_while_they_are_under_the_cap() -> None:
    assert starts(talk(9), Keep(tokens=1, messages=6, cap=100_000)) == 13
    assert starts(talk(9), Keep(tokens=1, messages=6, cap=10)) == 17


def test_with_twelve_parallel_reads_the_count_yields_to_the_size() -> None:
    """Trap 3: six messages as a hard floor made 57 compactions in 60 turns."""
    spoken = talk(6, calls=12, size=40)
    sizes = laid(spoken).desk.sizes(shown(spoken))
    start = starts(spoken, Keep(tokens=2_000, messages=6, cap=8_000))
    assert start == last_turn(shown(spoken))
    assert sum(sizes[start:]) < sum(sizes[-4:])


def test_never_less_than_the_last_turn_stays_unless_nothing_is_to_stay() -> None:
    spoken = talk(4, size=400)
    assert starts(spoken, Keep(tokens=1, messages=1, cap=1)) == 7
    assert starts(spoken, Keep(tokens=0, messages=0, cap=0)) == len(spoken)


def test_keep_nothing_keeps_the_answer_whose_results_are_to_come() -> None:
    spoken = [*talk(2), bot("I look", use("open"))]
    assert not is_closed(shown(spoken))
    assert starts(spoken, Keep(tokens=0, messages=0, cap=0)) == 5
    assert messages_start(shown(spoken), 0) == 5


def test_a_person_gets_at_most_so_many_messages_and_no_pair_is_cut() -> None:
    spoken = shown(talk(4))
    assert [messages_start(spoken, count) for count in (0, 1, 2, 3, 4, 99)] == [9, 9, 7, 7, 5, 1]


def test_what_a_person_said_between_two_turns_stays_with_the_turn_before() -> None:
    spoken = [*talk(2), user("faster"), bot("yes", use("z")), user(gave("z", lines("z", 3)))]
    assert messages_start(shown(spoken), 3) == 6


def test_answers_with_all_results_are_closed() -> None:
    assert is_closed(shown(talk(2, calls=3)))
    assert is_closed(shown([user("go")]))
    assert not is_closed(shown([*talk(1), bot(use("a"), use("b")), user(gave("a", "1"))]))
