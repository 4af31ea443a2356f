"""What a case does to its messages. Each operation ends in an Outcome that the checks look at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine.events import CompactionFailed, Trigger, WindowEdited
from runs.engine.middleware.base import Asked

from .ground import Ground, lay, usage_of


@dataclass(slots=True)
class Outcome:
    """`given`: the case's messages; `before` and `sent`: what would have been sent, and what is sent now."""

    params: Mapping[str, Any]
    given: Sequence[Mapping[str, Any]]
    ground: Ground
    before: list[dict[str, Any]]
    body: dict[str, Any]
    failures: list[str] = field(default_factory=list)

    @property
    def sent(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


def outcomes(case: Mapping[str, Any]) -> list[Outcome]:
    """One outcome, or one per reply where the replies are alternatives that must each be survived."""
    run = OPERATIONS[case["operation"]]
    params = case["params"]
    replies = params.get("summary_replies") or []
    alone = any(check.startswith("error:") or check == "unchanged" for check in case["checks"])
    groups = [[reply] for reply in replies] if replies and alone else [replies]
    return [_outcome(case, run, group) for group in groups]


def _outcome(case: Mapping[str, Any], run: Callable[[Ground, Mapping[str, Any]], None], replies: Sequence[Any]) -> Outcome:
    params, messages = case["params"], case["messages"]
    before = lay(messages, params, replies).request()["messages"] if messages else []
    ground = lay(messages, params, replies)
    run(ground, params)
    failed = [event.why for event in ground.events if isinstance(event, CompactionFailed)]
    body = ground.request() if messages else {"messages": []}
    return Outcome(params=params, given=messages, ground=ground, before=before, body=body, failures=failed)


def _compact(ground: Ground, params: Mapping[str, Any]) -> None:
    asked = Asked(trigger=Trigger.PERSON, method="summary", keep=params["keep_last_messages"], by="Ada")
    ground.take(ground.technique("compact").compact(asked))


def _clear_results(ground: Ground, params: Mapping[str, Any]) -> None:
    technique = ground.technique("clear_results")
    if ground.desk.read().tokens < params["trigger_tokens"]:
        return
    ground.take(technique.clear(Asked(trigger=Trigger.AUTO, keep=params["keep"])))


def _nothing(ground: Ground, params: Mapping[str, Any]) -> None:
    """The request is built from the window as it stands."""


def _offload(ground: Ground, params: Mapping[str, Any]) -> None:
    technique = ground.technique("offload")
    ground.take(technique.offload(ground.desk.window.entries, ground.desk.window))


OPERATIONS: dict[str, Callable[[Ground, Mapping[str, Any]], None]] = {
    "compact": _compact,
    "clear_tool_results": _clear_results,
    "build_request": _nothing,
    "count": _nothing,
    "offload": _offload,
}


def edits(outcome: Outcome) -> list[WindowEdited]:
    return [event for event in outcome.ground.events if isinstance(event, WindowEdited)]


def asked_bodies(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in outcome.ground.llm.asked]


def billed(outcome: Outcome) -> int:
    return sum(usage_of(usage).prompt for usage in outcome.params.get("usage") or [])
