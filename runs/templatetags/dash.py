"""What templates may say: an icon, a number as this house writes it, a time, a text made safe."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.present import numbers, text

register = template.Library()

register.filter("exact", numbers.exact)
register.filter("kilo", numbers.kilo)
register.filter("percent", numbers.percent)
register.filter("usd", numbers.usd)
register.filter("seconds", numbers.seconds)
register.filter("span", numbers.span)
register.filter("ratio", numbers.ratio)
register.filter("plain", text.plain)
register.filter("visible", text.visible)
register.filter("prose", text.prose)
register.filter("first_words", text.first_words)
register.filter("gist", text.gist)
register.filter("sentence", text.sentence)


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """A stroke icon of the sprite, hidden from screen readers: the word beside it speaks."""
    return _icon(name, css)


@lru_cache(maxsize=500)
def _icon(name: str, css: str) -> SafeString:
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="{}#{}"/></svg>', css, static("icons.svg"), name
    )


@register.filter
def knownly(words: str) -> str | SafeString:
    """A figure; "unknown" small, so that it is read as a word."""
    return format_html('<span class="unknown">{}</span>', words) if words == numbers.UNKNOWN else words


@register.filter
def iso(moment: datetime | None) -> str:
    """UTC with milliseconds; the browser shows it in the reader's zone."""
    if moment is None:
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
