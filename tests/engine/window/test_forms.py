"""How a message looks cleared or as a preview."""

from __future__ import annotations

import pytest

from runs.engine import tokens
from runs.engine.events import Form
from runs.engine.messages import Author, Block, Kind, Message, Role, result_text, text
from runs.engine.window.forms import (
    RENDER,
    SMALL,
    Shape,
    clearable,
    ends,
    file_name,
    offloaded_files,
    oversized,
    replaced,
    shown,
)

from ..histories import PICTURE
from ..stage import gave, lines, thought, use

SHAPE = Shape(
    result_tokens=1000,
    message_tokens=2000,
    head_lines=3,
    tail_lines=2,
    key_lines=4,
    exclude=("recall", "take_note"),
)
CALLS = {name: use(name, tool) for name, tool in (("a", "read_file"), ("b", "run_command"), ("r", "recall"))}


def results(*blocks: Block) -> Message:
    return Message(number=9, role=Role.USER, author=Author.TOOL, kind=Kind.RESULTS, turn=4, content=blocks)


def told(words: str, kind: Kind = Kind.SAY) -> Message:
    return Message(number=9, role=Role.USER, author=Author.PERSON, kind=kind, turn=4, content=(text(words),))


def test_full_is_what_was_archived_the_very_object() -> None:
    message = results(gave("a", lines("x", 30)))
    assert shown(message, Form.FULL, SHAPE, CALLS) is message.content


def test_a_cleared_result_says_how_to_get_it_back_and_stays_a_result() -> None:
    block = {**gave("a", lines("x", 60)), "cache_control": {"type": "ephemeral"}}
    (marker,) = shown(results(block), Form.CLEARED, SHAPE, CALLS)
    assert marker["tool_use_id"] == "a"
    assert "read_archive(4)" in marker["content"]
    assert "Output of read_file cleared" in marker["content"]
    assert "cache_control" not in marker


def test_key_lines_stay_in_the_marker_and_never_fill_it() -> None:
    keyed = "\n".join([lines("x", 80), "ORDER-77: lamp nine", "ValueError: no such lamp"])
    (marker,) = shown(results(gave("a", keyed)), Form.CLEARED, SHAPE, CALLS)
    assert "ORDER-77: lamp nine" in marker["content"]
    assert "ValueError: no such lamp" in marker["content"]
    dense = "\n".join(f"KEY-{at}: {'9f' * 60}" for at in range(4))
    (marker,) = shown(results(gave("a", dense)), Form.CLEARED, SHAPE, CALLS)
    assert tokens.of_block(marker) < tokens.of_block(gave("a", dense))


@pytest.mark.parametrize(
    ("block", "may"),
    [
        (gave("a", lines("x", 60)), True),
        (gave("a", lines("x", 60), error=True), False),
        (gave("r", lines("x", 60)), False),
        (gave("a", "short"), False),
        (gave("a", [text(lines("x", 40)), PICTURE]), True),
        (text(lines("x", 60)), False),
    ],
)
def test_errors_small_results_and_what_memory_brought_are_never_cleared(block: Block, may: bool) -> None:
    assert clearable(block, SHAPE, CALLS) is may
    same = shown(results(block), Form.CLEARED, SHAPE, CALLS) == (block,)
    assert same is not may


def test_only_the_results_that_may_are_cleared_beside_each_other() -> None:
    small, large = gave("a", "fine"), gave("b", lines("x", 60))
    first, second = shown(results(small, large), Form.CLEARED, SHAPE, CALLS)
    assert first is small
    assert second["content"].startswith("[Output of run_command cleared")


def test_a_cleared_answer_is_the_answer_without_its_thinking() -> None:
    content = (thought(), text("I look."), use("a"))
    message = Message(
        number=2, role=Role.ASSISTANT, author=Author.LLM, kind=Kind.ANSWER, turn=1, content=content
    )
    assert shown(message, Form.CLEARED, SHAPE, CALLS) == content[1:]


def test_what_is_over_the_mark_is_oversized_and_then_the_largest_until_the_sum_fits() -> None:
    huge, big, bigger = gave("a", lines("x", 200)), gave("b", lines("y", 55)), gave("c", lines("z", 60))
    assert oversized(results(huge, gave("b", "ok")), SHAPE, CALLS) == (0,)
    assert oversized(results(big, bigger), SHAPE, CALLS) == (1,)
    assert oversized(results(big), SHAPE, CALLS) == ()


def test_a_page_of_an_offloaded_file_is_not_offloaded_again() -> None:
    calls = {"p": use("p", path="@run/results/m3-0-abc.txt")}
    assert oversized(results(gave("p", lines("x", 300))), SHAPE, calls) == ()


def test_a_preview_has_head_tail_size_and_the_path_of_the_whole() -> None:
    whole = lines("x", 300)
    message = results(gave("a", whole, error=True))
    (block,) = shown(message, Form.PREVIEW, SHAPE, CALLS)
    assert block["content"].splitlines()[:3] == whole.splitlines()[:3]
    assert block["content"].splitlines()[-2:] == whole.splitlines()[-2:]
    assert f"@run/{file_name(message, 0)}" in block["content"]
    assert "300 lines" in block["content"]
    assert block["is_error"]
    assert offloaded_files(message, SHAPE, CALLS) == {file_name(message, 0): whole}


@pytest.mark.parametrize(
    "whole", ["word " * 3000, "你好世界" * 800, "\n".join(["x" * 900] * 24), "\n" * 40_000 + "end"]
)
def test_a_preview_is_smaller_than_what_it_stands_for(whole: str) -> None:
    message = results(gave("a", whole))
    (block,) = shown(message, Form.PREVIEW, SHAPE, CALLS)
    assert tokens.of_block(block) < tokens.of_block(message.content[0])


def test_the_name_of_a_file_is_ours_whatever_the_ids_are() -> None:
    names = [file_name(results(gave(call, "text")), 0) for call in ("", "A" * 1400, "../../etc/x")]
    assert all(name.startswith("results/m9-0-") and len(name) < 40 for name in names)


def test_list_content_is_measured_and_offloaded_like_text() -> None:
    message = results(gave("a", [text(lines("x", 100)), PICTURE, text(lines("y", 100))]))
    assert oversized(message, SHAPE, CALLS) == (0,)
    (whole,) = offloaded_files(message, SHAPE, CALLS).values()
    assert whole == result_text(message.content[0])
    assert "[image]" in whole


def test_a_long_message_of_a_person_is_a_preview_by_its_own_mark() -> None:
    assert oversized(told(lines("x", 150)), SHAPE, CALLS) == ()
    assert oversized(told(lines("x", 250)), SHAPE, CALLS) == (0,)


def test_a_message_that_gives_way_to_newer_ones_is_a_preview_below_that_mark_too() -> None:
    message = told(lines("x", 100))
    assert replaced(message, SHAPE, CALLS) == (0,)
    (block,) = shown(message, Form.PREVIEW, SHAPE, CALLS)
    assert "@run/" in block["text"]
    short = told("Answer in JSON only.")
    assert shown(short, Form.PREVIEW, SHAPE, CALLS) == short.content


def test_few_very_long_lines_fill_neither_head_nor_tail() -> None:
    head, tail = ends("\n".join(["w" * 8000] * 5), 12, 12)
    assert max(len(head), len(tail)) <= 2000
    assert ends("one\ntwo", 12, 12)[1] == ""


def test_the_shape_travels_in_a_frame_and_comes_back() -> None:
    assert Shape.of(SHAPE.params(), RENDER) == SHAPE
    assert SMALL == 120


def test_what_the_first_release_drew_is_drawn_with_its_own_sizes() -> None:
    first, now = (Shape.of(SHAPE.params(), render) for render in (1, RENDER))
    result = gave("t1", "pieces of amber and 1,609 words\n" * 80)
    message = Message(
        number=3, role=Role.USER, author=Author.TOOL, kind=Kind.RESULTS, turn=1, content=(result,)
    )
    told = [
        result_text(shown(message, Form.CLEARED, shape, {})[0]).partition(" tokens")[0]
        for shape in (first, now)
    ]
    assert told[0] != told[1]
    assert told[0].endswith(f"{first.size(result):,}")
    assert told[1].endswith(f"{tokens.of_block(result):,}")


DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": lines("d", 90)},
}


def test_what_stands_beside_the_text_of_a_result_is_named_where_it_goes() -> None:
    held = gave("a", [text(lines("x", 60)), PICTURE, DOCUMENT, PICTURE], error=False)
    (marker,) = shown(results(held), Form.CLEARED, SHAPE, CALLS)
    assert "tokens, 2 × image, 1 × document. Get it back" in marker["content"]


def test_a_result_is_offloaded_by_its_text_and_keeps_its_pictures() -> None:
    many = results(gave("a", [PICTURE] * 40))
    assert oversized(many, SHAPE, CALLS) == ()
    both = results(gave("a", [text(lines("x", 200)), PICTURE, DOCUMENT], error=True))
    (small,) = shown(both, Form.PREVIEW, SHAPE, CALLS)
    assert small["is_error"]
    assert [part["type"] for part in small["content"]] == ["text", "image"]
    assert "1 × image, 1 × document" in small["content"][0]["text"]
    ((_, whole),) = offloaded_files(both, SHAPE, CALLS).items()
    assert lines("d", 90) in whole


def test_requests_of_the_first_release_name_nothing_beside_the_text() -> None:
    held = results(gave("a", [text(lines("x", 200)), PICTURE]))
    first = Shape.of(SHAPE.params(), 1)
    for form in (Form.CLEARED, Form.PREVIEW):
        (marker,) = shown(held, form, first, CALLS)
        assert isinstance(marker["content"], str)
        assert "× image" not in marker["content"]
