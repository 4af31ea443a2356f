"""Nothing in a template needs an exception of the content security policy: it has none."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .source import ROOT, name

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static/js").rglob("*.js"))
TAG = re.compile(r"{%.*?%}|{#.*?#}|{{.*?}}", re.DOTALL)
FORBIDDEN_IN_JS = re.compile(
    r"""\beval\(|new Function\(|setAttribute\(\s*["']style|insertAdjacentHTML|document\.write"""
)


class Offences(HTMLParser):
    """Collects what the browser would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "style":
            self.found.append("<style>")
        if tag == "script" and not given.get("src") and given.get("type") != "application/json":
            self.found.append("inline <script>")
        for key, value in given.items():
            if key == "style" or re.match(r"on[a-z]+$", key) or key.startswith("hx-on"):
                self.found.append(f"{key}=")
            if value.strip().lower().startswith(("javascript:", "js:", "data:text/html")):
                self.found.append(f"{key}={value[:20]}")
            if key == "hx-trigger" and "[" in value:
                self.found.append("a filter in hx-trigger, which needs eval")


def test_there_are_templates_to_look_at() -> None:
    assert len(TEMPLATES) > 20


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_no_inline_style_script_or_handler(path: Path) -> None:
    parser = Offences()
    parser.feed(TAG.sub("x", path.read_text(encoding="utf-8")))
    assert parser.found == []


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_nothing_is_marked_safe_in_a_template(path: Path) -> None:
    """What an llm or a tool wrote is data: whoever renders it as HTML does so in Python, after cleaning it."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|{%\s*autoescape\s+off", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_no_script_makes_markup_or_code_out_of_text(path: Path) -> None:
    assert FORBIDDEN_IN_JS.findall(path.read_text(encoding="utf-8")) == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    pages = [*TEMPLATES, *SCRIPTS, *(ROOT / "static/css").rglob("*.css")]
    loads = re.compile(
        r"""(?:src|href)=["']https?://|url\(\s*["']?https?://|import\s.*["']https?://|@import"""
    )
    assert [name(path) for path in pages if loads.search(path.read_text(encoding="utf-8"))] == []
