"""The stand-in counts in its own way: the same always, pictures by pixels, JSON and Asian scripts dense."""

from __future__ import annotations

import base64
import json
import struct

from runs.engine.llm.rehearsal import count

from .asking import body


def test_english_is_about_four_characters_a_token() -> None:
    text = "The quick brown fox jumps over the lazy dog while the kettle sings on the stove. " * 20
    assert 3.5 < len(text) / count.text(text) < 5


def test_json_is_dense() -> None:
    text = json.dumps([{"id": n, "ok": True, "path": f"src/{n}.py"} for n in range(50)])
    assert len(text) / count.text(text) < 3


def test_an_asian_character_is_about_a_token() -> None:
    assert count.text("漢字仮名交じり文") == 8


def test_a_picture_counts_by_its_pixels_however_long_its_base64_is() -> None:
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 200, 200)
    sizes = [count.picture({"data": base64.b64encode(head + bytes(more)).decode()}) for more in (0, 50_000)]
    assert sizes == [53, 53]


def test_a_picture_that_cannot_be_read_has_a_fixed_price() -> None:
    assert (
        count.picture({"data": "?"})
        == count.picture({"url": "https://example.org/a.png"})
        == count.PICTURE_UNKNOWN
    )


def test_a_string_and_its_text_block_count_alike() -> None:
    as_string = body(messages=[{"role": "user", "content": "Hello there."}])
    as_block = body(messages=[{"role": "user", "content": [{"type": "text", "text": "Hello there."}]}])
    assert count.total(as_string) == count.total(as_block)


def test_the_parts_are_in_the_order_of_the_api_and_add_up() -> None:
    whole = body(system=[{"type": "text", "text": "You act."}])
    parts = count.elements(whole)
    assert [part.layer for part in parts] == ["tools", "system", "user"]
    assert sum(part.tokens for part in parts) == count.total(whole)


def test_cache_marks_weigh_nothing() -> None:
    plain = [{"type": "text", "text": "Hello."}]
    marked = [{"type": "text", "text": "Hello.", "cache_control": {"type": "ephemeral"}}]
    assert count.total(body(messages=[{"role": "user", "content": plain}])) == count.total(
        body(messages=[{"role": "user", "content": marked}])
    )
