"""Faults on demand: what a server or an llm does wrong, by name, so that tests and curious people can have
it.

`rehearsal/<script>+<fault>[:number][@turns]+…`, for instance `rehearsal/hello+429:2@2` (the first two
tries of turn 2 are refused) or `rehearsal/orders+summary_lossy`. Over HTTP also in the header `x-rehearsal:
hello+529@3`. `turns` is a number, or `4-` for all from there on; without it every turn counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from .wire import ApiError, Invalid, Place

STATUS: Mapping[str, tuple[str, str]] = {
    "400": ("invalid_request_error", "messages: the rehearsal refuses this request, as it was asked to"),
    "401": ("authentication_error", "invalid x-api-key"),
    "402": ("billing_error", "Your credit balance is too low to access the API."),
    "403": ("permission_error", "Your API key does not have permission to use this resource."),
    "404": ("not_found_error", "model: rehearsal"),
    "408": ("timeout_error", "Request timeout"),
    "409": ("conflict_error", "Conflict"),
    "413": ("request_too_large", "Request exceeds the maximum size"),
    "429": ("rate_limit_error", "This request would exceed your rate limit."),
    "500": ("api_error", "Internal server error"),
    "503": ("api_error", "Service unavailable"),
    "504": ("timeout_error", "Timed out"),
    "529": ("overloaded_error", "Overloaded"),
}
"""Before the answer's head. `number` is how many tries of a turn are refused (1)."""

STREAM = frozenset({"hang", "slow", "reset", "end", "error", "garbage", "no_stop", "no_reason", "split"})
"""In the middle of an answer. `number` is the byte where it happens (after the head, when left out), for
`slow` and `split` the bytes a piece. hang: falls silent · slow: drips · reset: the connection breaks · end:
it ends cleanly · error: an SSE error event · garbage: a line that is not JSON · no_stop: no message_stop ·
no_reason: no stop_reason · split: arrives in small pieces, unharmed. On the first try of a turn only, but
for slow and split."""

ANSWER = frozenset(
    {
        "refusal", "pause_turn", "max_tokens", "context_exceeded", "empty", "bad_json", "not_object",
        "unknown_tool", "duplicate_ids", "many_calls", "nul", "surrogates", "nan", "long", "deep",
        "thinking_only", "markup", "unsigned_thinking", "text_last", "blank_blocks", "end_with_call",
        "unknown_block", "unknown_reason", "extra_keys", "no_fields", "odd_ids", "odd_numbers", "server_result",
        "every_character",
    }
)  # fmt: skip
"""A whole answer that is bad in itself. `number`: how many tries of a turn are answered so (1)."""

CUT = "cut_call"
"""The answer's first tool call is cut off by max_tokens at the byte `number` of its input, on every try."""

WIRE = frozenset(
    {
        "wrong_role", "usage_negative", "usage_huge", "usage_nan", "usage_missing", "usage_words", "bad_utf8",
        "null_text", "wrong_delta",
    }
)  # fmt: skip
"""Events of an answer that hold what they must not, on every try (rewrite.py)."""

SUMMARY = frozenset(
    {
        "summary_empty", "summary_blank", "summary_refusal", "summary_cut", "summary_400", "summary_529",
        "summary_lossy", "summary_long", "summary_tool", "summary_thinking", "summary_markup",
        "summary_reset",
    }
)  # fmt: skip
"""For requests of a summary only. `number`: how many summaries of a run go wrong (all)."""

KNOWN = STREAM | ANSWER | WIRE | SUMMARY | {*STATUS, CUT}
ONCE = 1
ALWAYS = 1_000_000
_MOST_RUNS = 10_000
RETRY_AFTER_S = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    name: str
    number: int | None = None
    first: int = 1
    last: int = ALWAYS

    def at(self, turn: int) -> bool:
        return self.first <= turn <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """A script's name and the faults it is played with."""

    script: str
    faults: tuple[Fault, ...] = ()


def parse(name: str) -> Personality:
    """From "hello+429:2@3+slow:1". Raises Invalid for a fault nobody knows."""
    script, *faults = name.removeprefix("rehearsal").removeprefix("/").split("+")
    return Personality(script=script, faults=tuple(_fault(word) for word in faults if word))


def _fault(word: str) -> Fault:
    named, _, turns = word.partition("@")
    name, _, number = named.partition(":")
    if name not in KNOWN:
        known = ", ".join(sorted(KNOWN))
        raise Invalid(f"The rehearsal knows no fault {name!r}. Known: {known}.")
    first, dash, last = turns.partition("-")
    return Fault(
        name=name,
        number=int(number) if number.isdigit() else None,
        first=int(first) if first.isdigit() else 1,
        last=int(last or ALWAYS) if dash or not first else int(first),
    )


class Tries:
    """How often a place was asked before: the one thing faults remember (scripts remember nothing)."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str, int], int] = OrderedDict()

    def next(self, fault: Fault, place: Place) -> int:
        """The number of this try, from 1. Summaries are counted over the run, turns each for itself."""
        key = (place.slug, fault.name, 0 if place.summary else place.turn)
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > _MOST_RUNS:
            self._counts.popitem(last=False)
        return count


def acting(personality: Personality, place: Place, tries: Tries) -> Fault | None:
    """The first fault that acts on this request."""
    for fault in personality.faults:
        if (fault.name in SUMMARY) != place.summary or not fault.at(place.turn):
            continue
        if tries.next(fault, place) <= _most(fault):
            return fault
    return None


def _most(fault: Fault) -> int:
    if fault.name in WIRE or fault.name == CUT:
        return ALWAYS
    if fault.name in STREAM:
        return ALWAYS if fault.name in ("slow", "split") else ONCE
    return fault.number or (ALWAYS if fault.name in SUMMARY else ONCE)


def refuse(fault: Fault) -> None:
    """Raise the HTTP error a fault stands for; other faults pass."""
    name = fault.name.removeprefix("summary_")
    if fault.name == "summary_400":
        raise Invalid("prompt is too long: 208310 tokens > 200000 maximum")
    if name in STATUS:
        kind, message = STATUS[name]
        headers = {"retry-after": RETRY_AFTER_S} if name in ("429", "529") else {}
        raise ApiError(int(name), kind, message, headers=headers)
