"""The language of a conversation, so that a summary can be asked for in it. A guess by script and small words."""

from __future__ import annotations

import re
from collections.abc import Iterable

AS_WRITTEN = "the one in which the person writes"
"""Where the language cannot be told: a wrong name would turn the conversation into another language."""

SCRIPT = 0.1
"""Letters of a script, or that only one language of it has, per word."""

SURE, LEAST = 0.08, 2
"""Share of the words, and number of different ones, that must speak for a language written in Latin letters."""

_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Ukrainian", re.compile(r"[іїєґІЇЄҐ]")),
    ("Russian", re.compile(r"[ыэёЫЭЁ]")),
    (AS_WRITTEN, re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Persian", re.compile(r"[\u067e\u0686\u0698\u06af\u06cc]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Vietnamese", re.compile(r"[ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]")),
    (AS_WRITTEN, re.compile(r"[\u0530-\u058f\u0980-\u0dff\u0e80-\u1cff]")),
)
_WORDS = {
    "English": "the and of to is in that it for with you this not are be on do write find use",
    "Spanish": "el la los las de que y en un una por con para no se es lo su como siempre responde sigue pero más",
    "Portuguese": "o os as de que e em um uma por com para não se é do da no na mas você sempre responda",
    "French": "le la les de des et en un une pour que qui dans ne pas est avec du au vous sur toujours mais",
    "German": "der die das und ist nicht ein eine zu den mit auf für von im sich dem auch es wie immer bitte aber",
    "Italian": "il lo la gli le di che e un una per con non si è del della sono ma come sempre rispondi",
    "Dutch": "de het een en van is niet in op te dat voor met zijn aan ook maar als altijd antwoord",
}
_SETS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_LETTERS = re.compile(r"[^\W\d_]+")


def language_of(texts: Iterable[str]) -> str:
    """The English name of the language that these texts are in; AS_WRITTEN where none is sure."""
    whole = "\n".join(texts)[:20_000]
    words = [word.casefold() for word in _LETTERS.findall(whole)]
    for name, script in _SCRIPTS:
        if len(script.findall(whole)) > len(words) * SCRIPT:
            return name
    counts = {name: sum(word in known for word in words) for name, known in _SETS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "English"))
    sure = len(_SETS[best].intersection(words)) >= LEAST and counts[best] >= SURE * len(words)
    return best if sure else AS_WRITTEN
