"""Model and tool text, made safe to show. It is data: markdown is cleaned after rendering, all else is escaped.

What would deceive the eye (direction marks, characters without width, tag characters, terminal codes) is shown by name.
No picture is ever fetched: an image becomes words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "b", "strong", "i", "em", "s", "del", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "h1", "h2", "h3", "h4", "table", "thead", "tbody", "tr", "th", "td"),
}
INLINE_TAGS = {"b", "strong", "i", "em", "code"}
SCHEMES = {"http", "https", "mailto"}

_ANSI = r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b"
_HIDDEN = (
    r"[\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\u061c\u180e\u115f\u1160\u3164\uffa0]"
    r"|[\U000e0000-\U000e0fff]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_DECEIVING = re.compile(f"({_ANSI}|{_HIDDEN})")
_BETWEEN_TAGS = re.compile(r">[^<]+|^[^<]+")


def plain(value: str) -> SafeString:
    """Escaped text, hidden characters by name: for tool output and everything that is not prose."""
    return mark_safe(_DECEIVING.sub(_name, str(escape(value))))


def visible(value: str) -> str:
    """For a terminal: hidden characters by name, so that what is read is what is there."""
    return _DECEIVING.sub(lambda found: f"[{hidden_name(found.group())}]", value)


def prose(value: str) -> SafeString:
    """Markdown as clean HTML of few tags; links carry only an address, and name their host."""
    return _cleaned(_markdown().render(value), TAGS)


def inline(value: str) -> SafeString:
    """The first paragraph of a text in one line: code and emphasis stay."""
    paragraph = next((part for part in re.split(r"\n\s*\n", value.strip()) if part.strip()), "")
    words = re.sub(r"^(#{1,6}|[-*+>]|\d+\.)\s+", "", " ".join(paragraph.split()))
    return _cleaned(_markdown().renderInline(words[:600]), INLINE_TAGS)


def first_words(value: str, most: int = 160) -> str:
    """The first line that says something, cut at `most` characters."""
    line = next((" ".join(line.split()) for line in value.splitlines() if line.strip()), "")
    return line if len(line) <= most else line[: most - 1].rstrip() + "\u2026"


def hidden_name(character: str) -> str:
    """U+202E becomes "right-to-left override"; a terminal code becomes ESC and its letters."""
    if character.startswith("\x1b"):
        return "ESC" + character[1:]
    code = f"U+{ord(character):04X}"
    return unicodedata.name(character, code).lower() if unicodedata.name(character, "") else code


def _name(match: re.Match[str]) -> str:
    return f'<span class="hidden-char">{escape(hidden_name(match.group()))}</span>'


def _cleaned(html: str, tags: set[str]) -> SafeString:
    clean = nh3.clean(
        html,
        tags=tags,
        attributes={"a": {"href"}} if "a" in tags else {},
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(_BETWEEN_TAGS.sub(lambda part: _DECEIVING.sub(_name, part.group()), clean))


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_close", _link_close)
    return parser


def _image(renderer: RendererHTML, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    source = urlsplit(str(tokens[index].attrGet("src") or ""))
    place = (source.netloc + source.path) or "no address"
    return escape(f"[image: {place} (not loaded)]")


def _link_close(renderer: RendererHTML, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    """Behind its words a link names its host, so that the words cannot promise another one."""
    depth = 0
    for token in reversed(tokens[:index]):
        if token.type == "link_close":
            depth += 1
        elif token.type == "link_open" and depth:
            depth -= 1
        elif token.type == "link_open":
            host = urlsplit(str(token.attrGet("href") or "")).netloc
            return f"</a> ({escape(host)})" if host else "</a>"
    return "</a>"


def gist(value: str) -> str:
    """The first words of a summary below its headings: what "## Goal" stands over."""
    below = [line.lstrip("-*> ") for line in value.splitlines() if not line.startswith("#")]
    return first_words("\n".join(below)) or first_words(value)


def sentence(words: str) -> str:
    """Words of somebody else with a full stop, so that ours can follow them."""
    said = words.rstrip()
    return f"{said}." if said and said[-1] not in ".!?…" else said
