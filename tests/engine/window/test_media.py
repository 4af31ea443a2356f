"""Pictures and documents within what the API takes: what does not fit becomes a line of text."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any

from runs.engine.window.tidy import Mended

from ..stage import bot, gave, use, user
from .test_repair import mended, types


def sized(width: int, height: int) -> dict[str, Any]:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    data = base64.b64encode(head).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def shown_pictures(done: Mended) -> Sequence[Any]:
    return [block for line in done.lines for block in line.blocks if block["type"] == "image"]


def test_the_oldest_pictures_over_the_most_become_a_line_of_text() -> None:
    done = mended(user("go", *(sized(10 + at, 10) for at in range(5))), pictures=3)
    assert len(shown_pictures(done)) == 3
    assert done.lines[0].blocks[1]["text"] == "[picture, 10 × 10 px: in the archive]"


def test_among_many_pictures_the_over_sized_become_a_line_of_text() -> None:
    few = mended(user("go", sized(2400, 1), *(sized(9, 9) for _ in range(19))))
    assert len(shown_pictures(few)) == 20
    many = mended(user("go", sized(2400, 1), *(sized(9, 9) for _ in range(20))))
    assert len(shown_pictures(many)) == 20
    assert "2400 × 1 px" in many.lines[0].blocks[1]["text"]


def test_pictures_inside_results_count_as_well() -> None:
    done = mended(
        user("go"),
        bot(use("a")),
        user(gave("a", [sized(1, 1), sized(2, 2)])),
        bot("hm"),
        user(sized(3, 3)),
        pictures=2,
    )
    assert [part["type"] for part in done.lines[2].blocks[0]["content"]] == ["text", "image"]


def heavy(kind: str, size: int) -> dict[str, Any]:
    return {"type": kind, "source": {"type": "base64", "media_type": "x", "data": "A" * size}}


def test_a_picture_that_is_refused_whatever_stands_beside_it_becomes_a_line_of_text() -> None:
    done = mended(user("go", sized(8001, 1), sized(1, 8000), heavy("image", 5 * 1024 * 1024 + 1)))
    assert types(done)[0] == ["text", "text", "image", "text"]


def test_the_oldest_documents_over_the_apis_bytes_become_a_line_of_text() -> None:
    nine = 9 * 1024 * 1024
    done = mended(
        user("go", heavy("document", nine), sized(1, 1), heavy("document", nine)),
        bot("hm"),
        user("x", heavy("document", nine)),
    )
    assert types(done) == [["text", "text", "image", "document"], ["text"], ["text", "document"]]
    assert done.lines[0].blocks[1]["text"] == "[document: in the archive]"
