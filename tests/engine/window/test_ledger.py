"""The code-made list of identifiers."""

from __future__ import annotations

from runs.engine import tokens
from runs.engine.messages import Author, Block, Kind, Message, Role, text
from runs.engine.window.ledger import key_lines, ledger

from ..stage import gave, use


def turn(number: int, name: str, given: dict[str, str], body: str, *, error: bool = False) -> list[Message]:
    call = use(f"c{number}", name, **given)
    return [
        told(2 * number, [text("I look"), call], Kind.ANSWER),
        told(2 * number + 1, [gave(f"c{number}", body, error=error)], Kind.RESULTS),
    ]


def told(number: int, content: list[Block], kind: Kind) -> Message:
    role, author = (Role.ASSISTANT, Author.LLM) if kind is Kind.ANSWER else (Role.USER, Author.TOOL)
    return Message(
        number=number, role=role, author=author, kind=kind, turn=number // 2, content=tuple(content)
    )


def reads(number: int, body: str) -> list[Message]:
    return turn(number, "read_file", {"path": f"src/part{number}.py"}, body)


def test_files_commands_errors_urls_and_keyed_values_are_found() -> None:
    span = [
        *reads(1, "LAMP-9: brass, shelf 4\nsee https://shop.example/lamps."),
        *turn(2, "edit_file", {"path": "src/shop.py"}, "ok"),
        *turn(
            3,
            "run_command",
            {"command": "python -m unittest"},
            "FAILED (errors=1)\nKeyError: 'lamp'\nexit code: 1",
        ),
        *turn(4, "write_file", {"path": "src/none.py"}, "no such folder", error=True),
    ]
    assert ledger(span, 500).splitlines() == [
        "values: LAMP-9: brass, shelf 4",
        "files written: src/shop.py",
        "files read: src/part1.py",
        "errors: KeyError: 'lamp'",
        "errors: FAILED (errors=1)",
        "urls: https://shop.example/lamps",
        "commands: python -m unittest → exit 1",
    ]


def test_what_occurs_in_more_than_three_messages_is_no_landmark() -> None:
    """Trap 2: a ledger without rarity fills with what is everywhere."""
    span = [message for at in range(1, 6) for message in reads(at, f"UTF-8: encoding\nLAMP-{at}: shelf {at}")]
    written = ledger(span, 2_000)
    assert "UTF-8" not in written
    assert all(f"LAMP-{at}: shelf {at}" in written for at in range(1, 6))


def test_many_times_in_one_message_is_still_one() -> None:
    body = "\n".join(["ValueError: no such lamp"] * 9)
    assert "errors: ValueError: no such lamp" in ledger(turn(1, "run_command", {"command": "x"}, body), 500)


def test_hashes_without_a_key_are_not_listed() -> None:
    """Trap 2 again: keyed, so that it does not fill with SHA-256."""
    span = reads(1, "\n".join(f"{at:064x}  file{at}" for at in range(50)))
    assert ledger(span, 2_000) == "files read: src/part1.py"


def test_it_is_capped_and_commands_are_the_first_to_go() -> None:
    span = [
        message for at in range(1, 60) for message in reads(at, f"LAMP-{at}: shelf {at} of the long corridor")
    ]
    span += [
        message
        for at in range(60, 90)
        for message in turn(at, "run_command", {"command": f"make {at}"}, "ok")
    ]
    written = ledger(span, 400)
    assert tokens.estimate(written) <= 400
    assert "LAMP-59: shelf 59" in written
    assert "make 60" not in written


def test_a_line_of_files_that_is_too_long_neither_empties_the_ledger_nor_loses_the_newest() -> None:
    span = [message for at in range(1, 400) for message in reads(at, "plain" if at != 7 else "LAMP-7: here")]
    written = ledger(span, 300)
    assert "LAMP-7: here" in written
    assert "src/part399.py" in written
    assert "src/part2.py" not in written


def test_folding_lays_it_over_the_one_before_newest_first_however_often() -> None:
    written = ""
    for at in range(1, 6):
        written = ledger(reads(at, f"LAMP-{at}: shelf {at}"), 900, written)
    values = [line for line in written.splitlines() if line.startswith("values: ")]
    assert values == [f"values: LAMP-{at}: shelf {at}" for at in (5, 4, 3, 2, 1)]
    assert "files read: src/part1.py, src/part2.py, src/part3.py, src/part4.py, src/part5.py" in written
    short = ledger(reads(6, "LAMP-6: shelf 6"), 45, written)
    assert "LAMP-6" in short
    assert "LAMP-1:" not in short


def test_key_lines_prefer_keys_and_errors_and_are_few() -> None:
    body = "name = plain\nsize: 12 px\nLAMP-9: brass\nTypeError: bad\n" + "\n".join(
        f"row {at}: {at}" for at in range(9)
    )
    assert key_lines(body, 4)[:2] == ["LAMP-9: brass", "TypeError: bad"]
    assert len(key_lines(body, 4)) == 4
    assert key_lines(body, 0) == []
    assert key_lines("nothing here\nat all", 4) == []
