"""What a case does to its messages. Each operation ends in an Outcome that the checks look at."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runs.engine.errors import BudgetSpent
from runs.engine.events import CompactionFailed, Trigger, Version, WindowEdited
from runs.engine.llm.accumulate import usage_of
from runs.engine.llm.table import price
from runs.engine.messages import Author, Kind, Role, canonical, clean, text
from runs.engine.middleware.base import Asked
from runs.engine.window.versions import Window

from . import chain, walking
from .ground import Ground, lay

Operation = Callable[[Ground, Mapping[str, Any]], None]


@dataclass(slots=True)
class Outcome:
    """`given`: the case's messages; `before` and `sent`: what would have been sent, and what is sent now."""

    params: Mapping[str, Any]
    given: Sequence[Mapping[str, Any]]
    ground: Ground
    before: list[dict[str, Any]]
    body: dict[str, Any]
    again: Callable[[], None]
    """The operation once more."""

    failures: list[str] = field(default_factory=list)

    @property
    def sent(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


Check = Callable[[Outcome, str], str]
"""Takes the outcome and what stands after the colon; '' when it holds, else what is wrong."""


def outcomes(case: Mapping[str, Any]) -> list[Outcome]:
    """One outcome, or one per reply where the replies are alternatives that must each be survived."""
    run = OPERATIONS[case["operation"]]
    params = case["params"]
    replies = params.get("summary_replies") or []
    alone = any(check.startswith("error:") or check == "unchanged" for check in case["checks"])
    groups = [[reply] for reply in replies] if replies and alone else [replies]
    return [_outcome(case, run, group) for group in groups]


def _outcome(
    case: Mapping[str, Any], run: Callable[[Ground, Mapping[str, Any]], None], replies: Sequence[Any]
) -> Outcome:
    params, messages = case["params"], case["messages"]
    before = lay(messages, params, replies).request()["messages"] if messages else []
    ground = lay(messages, params, replies)
    run(ground, params)
    failed = [event.why for event in ground.events if isinstance(event, CompactionFailed)]
    failed += [ground.error] if ground.error else []
    body = ground.request() if messages else {"messages": []}
    return Outcome(
        params=params,
        given=messages,
        ground=ground,
        before=before,
        body=body,
        again=lambda: run(ground, params),
        failures=failed,
    )


def _compact(ground: Ground, params: Mapping[str, Any]) -> None:
    asked = Asked(trigger=Trigger.PERSON, method="summary", keep=params.get("keep_last_messages"), by="Ada")
    ground.take(ground.technique("compact").compact(asked))


def _clear_results(ground: Ground, params: Mapping[str, Any]) -> None:
    technique = ground.technique("clear_results")
    if ground.desk.read().tokens < params.get("trigger_tokens", 0):
        return
    ground.take(technique.clear(Asked(trigger=Trigger.AUTO, keep=params.get("keep"))))


def _clear_thinking(ground: Ground, params: Mapping[str, Any]) -> None:
    ground.take(ground.technique("clear_thinking").clear(Asked(keep=params.get("keep_turns", 1))))


def _nothing(ground: Ground, params: Mapping[str, Any]) -> None:
    """The request is built from the window as it stands."""


def _offload(ground: Ground, params: Mapping[str, Any]) -> None:
    technique = ground.technique("offload")
    ground.take(technique.offload(ground.desk.window.entries, ground.desk.window))


def _agent_step(ground: Ground, params: Mapping[str, Any]) -> None:
    """The results of all calls are in first; only then, at the boundary, what the agent asked for is done."""
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": text}
        for call, text in (params.get("tool_results") or {}).items()
    ]
    ground.append(Role.USER, Author.TOOL, Kind.RESULTS, results)
    asked = Asked(trigger=Trigger.AGENT, method="summary", keep=0)
    ground.take(ground.technique("compact").compact(asked))


def _compact_repeat(ground: Ground, params: Mapping[str, Any]) -> None:
    for round_ in range(params.get("rounds", 2)):
        _compact(ground, params)
        ground.append(Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text(f"went on, round {round_}")])
        ground.append(Role.USER, Author.PERSON, Kind.SAY, [text("next")])


def _compact_then_step(ground: Ground, params: Mapping[str, Any]) -> None:
    _compact(ground, params)
    ground.append(Role.USER, Author.PERSON, Kind.SAY, [text(params.get("next_user", "ok"))])
    ground.desk.turn += 1
    ground.take(ground.technique("compact").before_call(ground.desk.window))


def _reduce(ground: Ground, params: Mapping[str, Any]) -> None:
    """What happens before a request: the techniques in their order."""
    for name in ("offload", "clear_results", "compact"):
        ground.take(ground.technique(name).before_call(ground.desk.window))


def _clear_sequence(ground: Ground, params: Mapping[str, Any]) -> None:
    """The list grows a turn at a time; before each request the techniques may act."""
    whole = ground.desk.window.entries
    first = Version(number=1, parent=0, edit=0, base=1, items=(whole[0].item,))
    ground.desk.window = Window(first, [whole[0].message])
    for entry in whole[1:]:
        ground.desk.window.append(entry.message)
        if entry.message.role is Role.USER:
            _reduce(ground, params)
            ground.prefixes.append(ground.request()["messages"])


def _cost(ground: Ground, params: Mapping[str, Any]) -> None:
    """Every call counts against the budget, summaries too; then the valves are asked before the next one."""
    for call in params.get("calls") or []:
        ground.desk.spent.cost += round(call["usd"] * 1_000_000)
    try:
        ground.take(ground.technique("valves").before_call(ground.desk.window))
    except BudgetSpent as spent:
        ground.paused = spent.reason


def _prefix_stability(ground: Ground, params: Mapping[str, Any]) -> None:
    """A skill is loaded between two requests: what it brings is text, the tools stay."""
    desk = ground.desk
    before = desk.renderer.render(desk.frame, desk.window.entries[:1], desk.window.calls(), 1)
    ground.prefixes.append(json.loads(before.request.body)["tools"])


def _store_and_build(ground: Ground, params: Mapping[str, Any]) -> None:
    """Through the gate into canonical bytes, as the archive keeps them, and back."""
    for number, message in list(ground.desk.window.messages.items()):
        body = canonical(clean(list(message.content)))
        ground.stored.append(body)
        ground.desk.window.messages[number] = replace(message, content=tuple(json.loads(body)))


OPERATIONS: dict[str, Operation] = {
    "agent_step": _agent_step,
    "build_request": _nothing,
    "cache_marks": walking.cache_marks,
    "chain": chain.chain,
    "clear_sequence": _clear_sequence,
    "clear_thinking": _clear_thinking,
    "clear_tool_results": _clear_results,
    "compact": _compact,
    "compact_repeat": _compact_repeat,
    "compact_then_step": _compact_then_step,
    "cost": _cost,
    "count": _nothing,
    "count_after_compact": _compact,
    "offload": _offload,
    "prefix_stability": _prefix_stability,
    "reduce": _reduce,
    "resume": _nothing,
    "run": walking.run,
    "storage": walking.storage,
    "store_and_build": _store_and_build,
    "trigger": walking.trigger,
}


def plain(words: str) -> str:
    """Without spaces, signs and capitals: a refusal may be spelled in any way."""
    return re.sub(r"[\W_]+", "", words).casefold()


def edits(outcome: Outcome) -> list[WindowEdited]:
    return [event for event in outcome.ground.events if isinstance(event, WindowEdited)]


def asked_bodies(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in outcome.ground.llm.asked]


def billed(outcome: Outcome) -> int:
    return sum(usage_of(usage).prompt for usage in outcome.params.get("usage") or [])


def cost_usd(params: Mapping[str, Any]) -> float:
    """What the usages cost at the case's price; calls with a price of their own add up."""
    known = price(params.get("price_in_per_m", 0), params.get("price_out_per_m", 0))
    spent = sum(known.of(usage_of(usage)) for usage in params.get("usage") or [])
    return spent / 1_000_000 + sum(call["usd"] for call in params.get("calls") or [])
