"""Estimates of tokens."""

from __future__ import annotations

import base64
import struct
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.engine.messages import Block, text
from runs.engine.tokens import (
    PICTURE_UNKNOWN,
    REMEMBERED,
    estimate,
    fits,
    of_block,
    of_content,
    of_picture,
    picture_size,
    words,
)

from . import samples
from .stage import gave, thought, use

TEXTS = samples.texts()
COUNTS = samples.counts()


def picture(data: bytes, kind: str = "png") -> Block:
    encoded = base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{kind}", "data": encoded}}


def png(width: int, height: int, rest: int = 0) -> Block:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return picture(head + b"\x00" * rest)


def test_nothing_weighs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_text_is_estimated_within_15_percent_of_a_real_tokenizer(name: str) -> None:
    assert estimate(TEXTS[name]) == pytest.approx(COUNTS[name], rel=0.15)


def test_all_kinds_together_are_estimated_within_3_percent() -> None:
    assert estimate("\n\n".join(TEXTS.values())) == pytest.approx(sum(COUNTS.values()), rel=0.03)


if find_spec("ctok"):  # it needs Python 3.12; on 3.11 its stored counts stand in for it

    def test_the_stored_counts_are_those_of_the_tokenizer() -> None:
        from ctok import token_count

        assert {name: token_count(said, "4.8") - samples.FRAME for name, said in TEXTS.items()} == COUNTS


@pytest.mark.parametrize("name", ["prose-spanish", "prose-spanish-2"])
def test_a_spanish_word_has_between_one_and_a_half_and_almost_three_tokens(name: str) -> None:
    assert 1.5 <= estimate(TEXTS[name]) / len(TEXTS[name].split()) <= 2.8


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        ("你好世界" * 250, 900, 1150),
        ("こんにちは" * 200, 400, 700),
        ("안녕하세요" * 200, 900, 1250),
        ("😀" * 300, 550, 900),
        ("-" * 3000, 250, 1500),
        ("9" * 3000, 950, 1050),
        ("f" * 3000, 500, 3000),
        (base64.b64encode(bytes(range(256)) * 12).decode(), 3500, 4200),
    ],
)
def test_one_thing_over_and_over_is_weighed_by_its_kind(said: str, low: int, high: int) -> None:
    assert low <= estimate(said) <= high


@pytest.mark.parametrize(
    "blank", [" " * 1000, "\u00a0" * 1000, "\u3000" * 1000, "\t" * 1000, "\x0b\x0c" * 500]
)
def test_no_kind_of_white_space_is_free(blank: str) -> None:
    assert 30 <= estimate(blank) <= 1000


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_never_weighs_less(one: str, other: str) -> None:
    assert estimate(f"{one}\n{other}") >= max(estimate(one), estimate(other)) - 1


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(st.text(max_size=60) | st.text(st.sampled_from("abcXYZ019 ._-\n\t"), max_size=60))
def test_a_text_that_fits_without_being_weighed_fits(said: str) -> None:
    most = words.ASCII_MOST if said.isascii() else words.MOST
    assert estimate(said) <= most * len(said)
    assert all(fits(said, size) == (estimate(said) <= size) for size in range(5 * len(said) + 2))


FAR = {
    "Burmese": ("မြန်မာဘာသာစကားဖြင့် ဖိုင်အားလုံးကို အကျဉ်းချုပ်ပါ။ ", 54.0),
    "Khmer": ("សូមសង្ខេបឯកសារទាំងអស់ ហើយឆ្លើយជាភាសាខ្មែរ។ ", 49.0),
    "Amharic": ("ሁሉንም ፋይሎች አጠቃልል እና ሁልጊዜ በአማርኛ መልስ። ", 44.0),
    "Lao": ("ສະຫຼຸບໄຟລ໌ທັງໝົດ ແລະຕອບເປັນພາສາລາວ ", 47.0),
    "Tibetan": ("ཡིག་ཆ་ཚང་མ་བསྡུས་ནས་བོད་ཡིག་ཏུ་ལན་འདེབས་ ", 57.0),
    "Mongolian": ("ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠪᠢᠴᠢᠭ ", 51.0),
    "Cherokee": ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᎴ ", 39.0),
    "full width": ("ＡＢＣ１２３", 11.0),
    "half width": ("ｱｲｳｴｵ", 10.0),
    "laughing in Korean": ("ㅋㅋㅋ ", 11.0),
    "Chinese punctuation": ("。「」、！？", 6.0),
    "letters of mathematics": ("𝔘𝔫𝔦", 12.0),
    "rare Han": ("𠀀𠮷𡃁", 12.0),
    "a spinner": ("⠿⠻⠽", 9.0),
    "Pinyin": ("nǐ hǎo shì jiè ", 13.0),
    "right to left": ("\u202eabc\u202c ", 8.0),
    "a family": ("👩‍👩‍👧‍👦", 14.0),
}
"""A phrase, and tokens of it over and over, each time, as ctok counts them."""


@pytest.mark.parametrize("name", FAR)
def test_what_is_written_in_rare_letters_is_not_counted_too_low(name: str) -> None:
    said, counted = FAR[name]
    assert 0.8 < estimate(said * 50) / (50 * counted) < 1.35


def test_a_picture_weighs_its_pixels_and_never_its_bytes() -> None:
    assert of_picture(png(200, 200)) == of_picture(png(200, 200, rest=60_000)) < 100
    assert of_picture(png(1500, 1000)) == PICTURE_UNKNOWN
    assert of_picture({"type": "image", "source": {"type": "url", "url": "https://x"}}) == PICTURE_UNKNOWN


def webp(kind: bytes, rest: bytes) -> Block:
    return picture(b"RIFF\x00\x00\x00\x00WEBP" + kind + b"\x00\x00\x00\x00" + rest + b"\x00" * 9, "webp")


def test_sizes_are_read_from_all_kinds_the_api_takes() -> None:
    assert picture_size(png(2400, 1)) == (2400, 1)
    assert picture_size(picture(b"GIF89a" + struct.pack("<HH", 30, 40) + b"\x00" * 9, "gif")) == (30, 40)
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640) + b"\x00" * 12
    exif = b"\xff\xe1" + struct.pack(">H", 8) + b"Exif\x00\x00"
    assert picture_size(picture(b"\xff\xd8" + exif + frame, "jpeg")) == (640, 480)
    assert picture_size(webp(b"VP8X", b"\x00" * 4 + b"\x7f\x02\x00" + b"\xdf\x01\x00")) == (640, 480)
    assert picture_size(webp(b"VP8L", b"\x2f" + struct.pack("<I", 479 << 14 | 639))) == (640, 480)
    assert picture_size(webp(b"VP8 ", b"\x00" * 6 + struct.pack("<HH", 640, 480))) == (640, 480)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG", b"GIF", b"\xff\xd8\xff", b"RIFFxxxxWEBPVP8X", b"plain text"]
)
def test_what_is_no_picture_has_no_size(data: bytes) -> None:
    assert picture_size(picture(data)) is None
    assert picture_size({"type": "image", "source": {"type": "base64", "data": "%%%"}}) is None


def pdf(pages: int, rest: int = 0) -> Block:
    data = b"%PDF-1.7\n<</Type/Pages>>" + b"<< /Type /Page >>\n" * pages + b"\xfe" * rest
    source = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(data).decode()}
    return {"type": "document", "source": source}


def test_a_document_weighs_its_pages_and_never_its_bytes() -> None:
    assert of_block(pdf(1)) == of_block(pdf(1, rest=900_000))
    assert 1_500 < of_block(pdf(1)) < 3_100
    assert of_block(pdf(7)) > 6 * of_block(pdf(1))
    assert of_block(pdf(0, rest=900_000)) < 40_000
    assert of_block({"type": "document", "source": {"type": "url", "url": "https://x"}}) == of_block(pdf(1))
    assert of_block(gave("a", [pdf(1, rest=900_000)])) < 3_100


def test_a_document_of_text_weighs_its_text() -> None:
    said = "lorem ipsum dolor sit amet " * 50
    source = {"type": "text", "media_type": "text/plain", "data": said}
    parts = {"type": "content", "content": [text(said)]}
    for block in ({"type": "document", "source": source}, {"type": "document", "source": parts}):
        assert estimate(said) < of_block(block) < estimate(said) + 60


def test_what_only_the_provider_reads_weighs_its_bytes_and_is_no_text() -> None:
    sealed = base64.b64encode(bytes(range(256)) * 40).decode()
    found = {"type": "web_search_result", "url": "https://x", "title": "X", "encrypted_content": sealed}
    for block in (
        {"type": "redacted_thinking", "data": sealed},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [found]},
    ):
        assert len(sealed) / 8 < of_block(block) < len(sealed) / 4
    assert of_block({**thought("Hm."), "signature": sealed}) < 20


def test_blocks_weigh_what_they_hold_and_a_little_for_themselves() -> None:
    said = "lorem ipsum dolor sit amet"
    for block in (
        text(said),
        thought(said),
        gave("a", said),
        gave("a", [text(said)]),
        use("a", what=said),
    ):
        assert estimate(said) < of_block(block) < estimate(said) + 40
    assert of_block(gave("a", [png(200, 200)])) < 100
    assert of_block({"type": "search_result", "title": said}) > estimate(said)
    assert of_content([text(said)] * 3) == 3 * of_block(text(said))


def test_a_size_that_was_asked_for_is_remembered() -> None:
    said = "The valve in the north hall opens at 45 bar.\n" * 20
    before = words._remembered.cache_info()
    assert estimate(said) == estimate("".join(said)) == words._weighed(said) > 0
    assert words._remembered.cache_info().hits > before.hits


def test_a_large_text_is_weighed_and_not_kept() -> None:
    said = "word " * REMEMBERED
    before = words._remembered.cache_info().currsize
    assert estimate(said) == words._weighed(said)
    assert words._remembered.cache_info().currsize == before
