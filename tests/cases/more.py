"""Checks of what was kept, marked, told and done over several requests."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from runs.engine.events import Checked, Repaired, SpinSeen, TurnAnswered
from runs.engine.llm.accumulate import usage_of
from runs.engine.memory import MemoryHistory
from runs.engine.messages import canonical, result_text, sha256
from runs.engine.window.render import model_view

from .ground import all_blocks, blocks_of
from .operations import Check, Outcome, asked_bodies, edits, plain
from .refusals import refused


def _no_thinking_in(outcome: Outcome, rest: str) -> str:
    gone = {
        canonical(block)
        for block in blocks_of(outcome.given[int(rest)])
        if block["type"].endswith("thinking")
    }
    left = [block for block in all_blocks(outcome.sent) if canonical(_unmarked(block)) in gone]
    signatures = {block.get("signature") for block in blocks_of(outcome.given[int(rest)])} - {None}
    halves = [block for block in all_blocks(outcome.sent) if block.get("signature") in signatures]
    return "thinking of that message is still sent" if left or halves else ""


def _unmarked(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def _rules_hold(outcome: Outcome, rest: str) -> str:
    """W1-W12 after every act of a chain."""
    return outcome.ground.broken


def _accepted(outcome: Outcome, rest: str) -> str:
    """By the Messages API, to all that is known of it, and so is each request of a summary."""
    bodies = [outcome.body, *asked_bodies(outcome)]
    return "; ".join(wrong for body in bodies for wrong in refused(body))


def _no_trailing_ws(outcome: Outcome, rest: str) -> str:
    last = outcome.sent[-1] if outcome.sent else {"role": "user"}
    if last["role"] == "user":
        return ""
    said = [block["text"] for block in blocks_of(last) if block["type"] == "text"]
    return "the last answer ends in white space" if said and said[-1] != said[-1].rstrip() else ""


def _idempotent(outcome: Outcome, rest: str) -> str:
    outcome.again()
    sent = outcome.ground.request()["messages"]
    return "" if canonical(sent) == canonical(outcome.sent) else "a second time changes what is sent"


def _kept_results(outcome: Outcome, rest: str) -> str:
    given = {
        block["tool_use_id"]: result_text(block)
        for block in all_blocks(outcome.given)
        if block["type"] == "tool_result"
    }
    full = {
        block["tool_use_id"]
        for block in all_blocks(outcome.sent)
        if block["type"] == "tool_result" and result_text(block) == given.get(block["tool_use_id"])
    }
    wanted = set(filter(None, rest.split(",")))
    return "" if full == wanted else f"in full: {sorted(full)}"


def _summaries(outcome: Outcome) -> list[str]:
    texts = [block["text"] for block in all_blocks(outcome.sent) if block["type"] == "text"]
    return [text for text in texts if text.startswith("<summary")]


def _one_summary(outcome: Outcome, rest: str) -> str:
    found = len(_summaries(outcome))
    return "" if found == 1 else f"{found} summaries"


def _labelled(outcome: Outcome, rest: str) -> str:
    """In a block of its own that says what it is, beside what the person wrote and never in it."""
    return "" if _summaries(outcome) else "no block says that it is a summary"


def _not_executed(outcome: Outcome, rest: str) -> str:
    return f"{rest} was run" if rest in outcome.ground.ran else ""


def _turns_le(outcome: Outcome, rest: str) -> str:
    made = sum(isinstance(event, TurnAnswered) for event in outcome.ground.events)
    return "" if made <= int(rest) else f"{made} turns"


def _warning(outcome: Outcome, rest: str) -> str:
    told = [*outcome.failures, *outcome.ground.said, *(_told(event) for event in outcome.ground.events)]
    return (
        "" if any(plain(rest) in plain(line) for line in told) else f"told: {[line for line in told if line]}"
    )


def _told(event: object) -> str:
    match event:
        case Checked():
            return event.why
        case Repaired():
            return event.what
        case SpinSeen():
            return "spin: the same call with the same result"
    return ""


def _trigger_between(outcome: Outcome, rest: str) -> str:
    """In tokens; both bounds up to 1 are shares of the window."""
    name, low, high = rest.rsplit(":", 2)
    at = outcome.ground.configs.get(name)
    if at is None:
        return f"no configuration {name!r}"
    return "" if float(low) <= at <= float(high) else f"{at} tokens"


def _parts_sum(outcome: Outcome, rest: str) -> str:
    reading = outcome.ground.desk.read()
    total = sum(reading.parts.values())
    return "" if total == reading.tokens else f"{total} of {reading.tokens}"


def _output_tokens(outcome: Outcome, rest: str) -> str:
    made = sum(usage_of(usage).output for usage in outcome.params.get("usage") or [])
    return "" if made == int(rest) else f"{made}"


def _view_equals_sent(outcome: Outcome, rest: str) -> str:
    """The request is built again from version and archive alone."""
    desk = outcome.ground.desk
    assert isinstance(desk.history, MemoryHistory)
    again = model_view(desk.frame, desk.window.entries, desk.window.messages.values(), desk.slug, 1)
    same = again.request.sha256 == sha256(canonical(outcome.body))
    return "" if same else "the view of the turn is not what was sent"


def _bytes_le(outcome: Outcome, rest: str) -> str:
    size = sum(map(len, outcome.ground.stored))
    return "" if 0 < size <= int(rest) else f"{size} bytes"


def _marked(message: Mapping[str, Any]) -> bool:
    return any(block.get("cache_control") for block in blocks_of(message))


def _tail_marked(outcome: Outcome, rest: str) -> str:
    bad = [at for at, messages in enumerate(outcome.ground.prefixes, 1) if not _marked(messages[-1])]
    return f"no mark on the last message in {bad}" if bad or not outcome.ground.prefixes else ""


def _previous_kept(outcome: Outcome, rest: str) -> str:
    """Where the tail of one request stood, the next one still has its mark."""
    pairs = itertools.pairwise(outcome.ground.prefixes)
    bad = [at for at, (before, after) in enumerate(pairs, 2) if not _marked(after[len(before) - 1])]
    return f"the mark of the request before is gone in {bad}" if bad else ""


def _prefix_stable(outcome: Outcome, rest: str) -> str:
    made = sum(
        _bare(after[: len(before)]) != _bare(before)
        for before, after in itertools.pairwise(outcome.ground.prefixes)
    )
    return "" if made <= len(edits(outcome)) else f"{made} rewrites, {len(edits(outcome))} edits"


def _bare(messages: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps([[_unmarked(block) for block in blocks_of(message)] for message in messages])


MORE: dict[str, Check] = {
    "rules_hold": _rules_hold,
    "accepted": _accepted,
    "no_thinking_in": _no_thinking_in,
    "no_trailing_ws": _no_trailing_ws,
    "idempotent": _idempotent,
    "kept_results": _kept_results,
    "one_summary_block": _one_summary,
    "summary_labelled": _labelled,
    "tool_not_executed": _not_executed,
    "turns_le": _turns_le,
    "warning": _warning,
    "trigger_between": _trigger_between,
    "parts_sum": _parts_sum,
    "output_tokens": _output_tokens,
    "stored_view_equals_sent": _view_equals_sent,
    "db_bytes_le": _bytes_le,
    "tail_marked_each": _tail_marked,
    "previous_tail_kept": _previous_kept,
    "prefix_stable": _prefix_stable,
}
