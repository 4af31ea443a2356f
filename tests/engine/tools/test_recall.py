"""recall and read_archive: the past on demand."""

from __future__ import annotations

import re

import pytest

from runs.engine.events import Recalled
from runs.engine.messages import Author, Block, Kind, Message, Role, text
from runs.engine.tokens import estimate
from runs.engine.tools import Toolbox, recall

from .conftest import Bench


def archive(bench: Bench, number: int, turn: int, *blocks: Block, author: Author = Author.LLM) -> None:
    role = Role.ASSISTANT if author is Author.LLM else Role.USER
    kind = Kind.ANSWER if author is Author.LLM else Kind.RESULTS
    bench.history.messages.append(
        Message(number=number, role=role, author=author, kind=kind, turn=turn, content=blocks)
    )


def test_a_hit_is_whole_lines_with_its_turn(bench: Bench) -> None:
    archive(bench, 4, 2, text("a\nb\nc\nthe port is 8765\nd\ne\nf"))
    result = bench("recall", query="port 8765")
    assert result.content == "turn 2, message 4 (answer):\nb\nc\nthe port is 8765\nd\ne"
    assert result.events == (Recalled(turn=3, query="port 8765", hits=1),)


def test_nothing_found_is_an_answer_and_an_event(bench: Bench) -> None:
    result = bench("recall", query="nowhere")
    assert not result.is_error
    assert "Nothing in this run matches" in str(result.content)
    assert result.events == (Recalled(turn=3, query="nowhere", hits=0),)


def test_k_bounds_the_hits(bench: Bench) -> None:
    for number in range(1, 20):
        archive(bench, number, number, text(f"needle {number}"))
    assert str(bench("recall", query="needle").content).count("turn ") == 5
    assert str(bench("recall", query="needle", k=2).content).count("turn ") == 2


@pytest.mark.parametrize("tokens", [40, 200, 1000])
def test_the_policys_tokens_bound_the_answer(bench: Bench, tokens: int) -> None:
    for number in range(1, 6):
        archive(
            bench, number, number, text("\n".join(f"needle line {line} of many words" for line in range(100)))
        )
    bench.toolbox = Toolbox(recall.tools(k=5, tokens=tokens))
    said = str(bench("recall", query="needle").content)
    assert said.startswith("turn 1, message 1 (answer):\nneedle line 0 of many words")
    assert estimate(said) <= tokens + 60


def test_a_turn_is_shown_word_for_word(bench: Bench) -> None:
    archive(
        bench,
        5,
        2,
        {"type": "thinking", "thinking": "hm", "signature": "sig=="},
        text("I read it."),
        {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a.py"}},
    )
    result = {"type": "tool_result", "tool_use_id": "t", "content": "one\ntwo", "is_error": True}
    archive(bench, 6, 2, result, author=Author.TOOL)
    archive(bench, 7, 3, text("another turn"))
    assert bench.says("read_archive", turn=2).split("\n") == [
        "turn 2: characters 1-141 of 141; the end",
        "message 5 (llm, answer):",
        "",
        "[thinking]",
        "hm",
        "",
        "I read it.",
        "",
        '[call read_file] {"path":"a.py"}',
        "",
        "message 6 (tool, results):",
        "",
        "[result, an error]",
        "one",
        "two",
    ]


@pytest.mark.parametrize("tokens", [50, 700, 100_000])
def test_pages_of_a_long_turn_put_together_are_the_turn(bench: Bench, tokens: int) -> None:
    body = "".join(f"{number} wörds 漢字\n" for number in range(4000))
    archive(bench, 5, 2, text(body[: 4000 if tokens == 50 else None]))
    bench.toolbox = Toolbox([recall.ReadArchive(tokens=tokens)])
    parts, offset = [], 1
    while offset:
        title, _, shown = bench.says("read_archive", turn=2, offset=offset).partition("\n")
        assert 0 < len(shown) <= recall.PAGE
        assert estimate(shown) <= tokens
        parts.append(shown)
        after = re.search(r"offset=(\d+)", title)
        offset = int(after[1]) if after else 0
    assert "".join(parts) == "message 5 (llm, answer):\n\n" + body[: 4000 if tokens == 50 else None]


def test_bad_input_is_refused(bench: Bench) -> None:
    assert "blank" in bench.refuses("recall", query="  ")
    assert "k" in bench.refuses("recall", query="x", k=0)
    assert "There is no turn 9 in the archive yet; this is turn 3." in bench.refuses("read_archive", turn=9)
    archive(bench, 5, 2, text("short"))
    assert "Choose an offset within them" in bench.refuses("read_archive", turn=2, offset=500)
