from __future__ import annotations


class Invalid(ValueError):
    """What a person asked for makes no sense. The message is a sentence with the cause and the cure."""
