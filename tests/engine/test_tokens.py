"""Estimates of tokens."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.engine import tokens
from runs.engine.messages import Block, text
from runs.engine.tokens import PICTURE_UNKNOWN, estimate, of_block, of_content, of_picture, picture_size

from .stage import gave, thought, use

SPANISH = "La lámpara que falta está en el pasillo número cuatro, según el último inventario de otoño. " * 11


def picture(data: bytes, kind: str = "png") -> Block:
    encoded = base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{kind}", "data": encoded}}


def png(width: int, height: int, rest: int = 0) -> Block:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return picture(head + b"\x00" * rest)


def test_nothing_weighs_nothing() -> None:
    assert estimate("") == 0


def test_scripts_without_spaces_are_not_four_characters_a_token() -> None:
    assert estimate("你好世界" * 250) >= 700
    assert estimate("こんにちは" * 100) >= 350
    assert estimate(SPANISH[:1000]) >= 200


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 100, 900, 1500),
        ("def add(first, second):\n    return first + second\n" * 50, 500, 1100),
        ('{"id": 12345, "name": "lamp", "price": 9.99}\n' * 50, 700, 1500),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n" * 20, 700, 1100),
        (base64.b64encode(bytes(range(256)) * 12).decode(), 2500, 4500),
    ],
)
def test_prose_code_json_and_dense_text_are_weighed_by_their_kind(words: str, low: int, high: int) -> None:
    assert low <= estimate(words) <= high


@pytest.mark.parametrize(
    "blank", [" " * 1000, "\u00a0" * 1000, "\u3000" * 1000, "\t" * 1000, "\x0b\x0c" * 500]
)
def test_no_kind_of_white_space_is_free(blank: str) -> None:
    assert 30 <= estimate(blank) <= 1000


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_never_weighs_less(one: str, other: str) -> None:
    assert estimate(f"{one}\n{other}") >= max(estimate(one), estimate(other)) - 1


def test_a_picture_weighs_its_pixels_and_never_its_bytes() -> None:
    assert of_picture(png(200, 200)) == of_picture(png(200, 200, rest=60_000)) < 100
    assert of_picture(png(1500, 1000)) == PICTURE_UNKNOWN
    assert of_picture({"type": "image", "source": {"type": "url", "url": "https://x"}}) == PICTURE_UNKNOWN


def test_sizes_are_read_from_png_gif_and_jpeg() -> None:
    assert picture_size(png(2400, 1)) == (2400, 1)
    assert picture_size(picture(b"GIF89a" + struct.pack("<HH", 30, 40) + b"\x00" * 9, "gif")) == (30, 40)
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640) + b"\x00" * 12
    exif = b"\xff\xe1" + struct.pack(">H", 8) + b"Exif\x00\x00"
    assert picture_size(picture(b"\xff\xd8" + exif + frame, "jpeg")) == (640, 480)


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"GIF", b"\xff\xd8\xff", b"plain text"])
def test_what_is_no_picture_has_no_size(data: bytes) -> None:
    assert picture_size(picture(data)) is None
    assert picture_size({"type": "image", "source": {"type": "base64", "data": "%%%"}}) is None


def test_blocks_weigh_what_they_hold_and_a_little_for_themselves() -> None:
    words = "lorem ipsum dolor sit amet"
    for block in (
        text(words),
        thought(words),
        gave("a", words),
        gave("a", [text(words)]),
        use("a", what=words),
    ):
        assert estimate(words) < of_block(block) < estimate(words) + 40
    assert of_block(gave("a", [png(200, 200)])) < 100
    assert of_block({"type": "search_result", "title": words}) > estimate(words)
    assert of_content([text(words)] * 3) == 3 * of_block(text(words))


def test_a_size_that_was_asked_for_is_remembered() -> None:
    words = "The valve in the north hall opens at 45 bar.\n" * 20
    before = tokens._remembered.cache_info()
    assert estimate(words) == estimate("".join(words)) == tokens._weighed(words) > 0
    assert tokens._remembered.cache_info().hits > before.hits


def test_a_large_text_is_weighed_and_not_kept() -> None:
    words = "word " * tokens.REMEMBERED
    before = tokens._remembered.cache_info().currsize
    assert estimate(words) == tokens._weighed(words)
    assert tokens._remembered.cache_info().currsize == before
