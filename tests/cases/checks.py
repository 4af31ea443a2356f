"""What must hold after a case. A word that stands here is checked; one that does not fails the case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runs.engine.memory import MemoryHistory
from runs.engine.messages import canonical
from runs.engine.tokens import picture_size
from runs.engine.window.lines import inner

from .ground import all_blocks, blocks_of
from .measures import MEASURES
from .more import MORE
from .operations import Check, Outcome, asked_bodies, plain
from .structure import problems


def failures(outcome: Outcome, checks: Sequence[str]) -> list[str]:
    return [f"{check}: {wrong}" for check in checks if (wrong := _one(outcome, check))]


def _one(outcome: Outcome, check: str) -> str:
    word, _, rest = check.partition(":")
    known = WORDS.get(word)
    return known(outcome, rest) if known else "no such check"


def _structural(word: str) -> Check:
    def check(outcome: Outcome, rest: str) -> str:
        return "; ".join(problem for problem in problems(outcome.sent) if word in problem)

    return check


def _text(outcome: Outcome) -> str:
    return json.dumps(outcome.sent, ensure_ascii=False)


def _contains(outcome: Outcome, rest: str) -> str:
    return "" if json.dumps(rest, ensure_ascii=False)[1:-1] in _text(outcome) else "not in what is sent"


def _not_contains_id(outcome: Outcome, rest: str) -> str:
    ids = {block.get("id") or block.get("tool_use_id") for block in all_blocks(outcome.sent)}
    return "a block with that id is sent" if rest in ids else ""


def _unchanged(outcome: Outcome, rest: str) -> str:
    return "" if canonical(outcome.before) == canonical(outcome.sent) else "what is sent has changed"


def _user_texts(outcome: Outcome, rest: str) -> str:
    def texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
        users = [message for message in messages if message["role"] == "user"]
        return [block["text"] for block in all_blocks(users) if block["type"] == "text"]

    return "" if texts(outcome.before) == texts(outcome.sent) else "the person's texts have changed"


def _error(outcome: Outcome, rest: str) -> str:
    wanted = plain(rest)
    return "" if any(wanted in plain(why) for why in outcome.failures) else f"reported: {outcome.failures}"


def _summary_valid(outcome: Outcome, rest: str) -> str:
    tools = outcome.ground.request().get("tools")
    for body in asked_bodies(outcome):
        uses = any(block["type"] in ("tool_use", "tool_result") for block in all_blocks(body["messages"]))
        if uses and body.get("tools") != tools:
            return "tool blocks without the run's tools"
        if wrong := problems(body["messages"]):
            return "; ".join(wrong)
    return "" if outcome.ground.llm.asked else "no summary was asked for"


def _thinking_verbatim(outcome: Outcome, rest: str) -> str:
    given = [canonical(block) for block in all_blocks(outcome.given) if "thinking" in block["type"]]
    sent = [canonical(block) for block in all_blocks(outcome.sent) if "thinking" in block["type"]]
    return "" if all(block in given for block in sent) else "a thinking block was altered"


def _assistant_unchanged(outcome: Outcome, rest: str) -> str:
    wanted = canonical(blocks_of(outcome.given[int(rest)]))
    sent = [canonical(blocks_of(message)) for message in outcome.sent if message["role"] == "assistant"]
    return "" if wanted in sent else "that message is not sent as it was"


def _marks(outcome: Outcome) -> int:
    spots = [*outcome.body.get("system", []), *outcome.body.get("tools", []), *all_blocks(outcome.sent)]
    return sum(1 for spot in spots if spot.get("cache_control"))


def _cache_le_4(outcome: Outcome, rest: str) -> str:
    return "" if _marks(outcome) <= 4 else f"{_marks(outcome)} marks"


def _cache_on_last(outcome: Outcome, rest: str) -> str:
    return "" if blocks_of(outcome.sent[-1])[-1].get("cache_control") else "no mark on the last message"


def _stable(outcome: Outcome, rest: str) -> str:
    return "" if canonical(outcome.ground.request()) == canonical(outcome.body) else "two builds differ"


def _all_pictures(outcome: Outcome) -> list[Mapping[str, Any]]:
    """Those inside results too."""
    whole = [part for block in all_blocks(outcome.sent) for part in (block, *inner(block))]
    return [part for part in whole if part["type"] == "image"]


def _pictures(outcome: Outcome, rest: str) -> str:
    found = len(_all_pictures(outcome))
    return "" if found == int(rest) else f"{found} pictures"


def _offloaded(outcome: Outcome, rest: str) -> str:
    for block in all_blocks(outcome.sent):
        if block.get("tool_use_id") == rest:
            return "" if "@run/" in json.dumps(block["content"]) else "no path in the result"
    return "no such result"


def _result_is_error(outcome: Outcome, rest: str) -> str:
    found = [block for block in all_blocks(outcome.sent) if block.get("tool_use_id") == rest]
    return "" if found and found[0].get("is_error") else "no error result"


def _few_pictures(outcome: Outcome, rest: str) -> str:
    found = _all_pictures(outcome)
    large = [block for block in found if max(picture_size(block) or (0, 0)) > 2000]
    return "" if len(found) <= 20 or not large else f"{len(found)} pictures, {len(large)} of them too large"


def _pictures_le(outcome: Outcome, rest: str) -> str:
    found = len(_all_pictures(outcome))
    return "" if found <= int(rest) else f"{found} pictures"


def _archive_complete(outcome: Outcome, rest: str) -> str:
    history = outcome.ground.desk.history
    assert isinstance(history, MemoryHistory)
    kept = {canonical(block) for message in history.messages for block in message.content}
    lost = [block for block in all_blocks(outcome.given) if canonical(block) not in kept]
    return f"{len(lost)} blocks are not in the archive" if lost else ""


def _no_loop(outcome: Outcome, rest: str) -> str:
    return "" if len(outcome.ground.events) < 20 else f"{len(outcome.ground.events)} events"


WORDS: dict[str, Check] = {
    **{
        word: _structural(word)
        for word in (
            "pairs",
            "results_first",
            "unique_ids",
            "no_blank",
            "alternate",
            "starts_user",
            "ends_user",
            "no_unsigned_thinking",
            "server_pairs",
        )
    },
    "contains": _contains,
    "not_contains_id": _not_contains_id,
    "unchanged": _unchanged,
    "user_texts_unchanged": _user_texts,
    "error": _error,
    "summary_request_valid": _summary_valid,
    "thinking_verbatim": _thinking_verbatim,
    "assistant_unchanged": _assistant_unchanged,
    "cache_le_4": _cache_le_4,
    "cache_on_last_message": _cache_on_last,
    "stable_output": _stable,
    "images_eq": _pictures,
    "offloaded": _offloaded,
    "result_is_error": _result_is_error,
    "archive_complete": _archive_complete,
    "images_le": _pictures_le,
    "images_le_20_or_max_px_2000": _few_pictures,
    "no_loop": _no_loop,
    **MEASURES,
    **MORE,
}
