"""Whether the numbers of a new run make sense: its llm, its policy, and a limit in which the work fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from django.conf import settings

from runs.engine.assemble import Parts, assemble, limit_of
from runs.engine.errors import EngineError, LlmTrouble
from runs.engine.events import Item, Version
from runs.engine.llm import UnknownLlm, capability, connect
from runs.engine.memory import ManualClock, MemoryFiles, MemoryHistory
from runs.engine.messages import Message
from runs.engine.policy import Policy, PolicyError, load
from runs.engine.ports import Cancel, Capability, Llm, Sandbox

from .invalid import Invalid

ROOM = 1_000
"""Tokens that must be free below the mark after the first request, or every turn would be a compaction."""


@dataclass(frozen=True, slots=True)
class Unasked:
    """An llm whose numbers are known and that is never called."""

    capability: Capability


def is_rehearsal(llm: str) -> bool:
    return llm == "rehearsal" or llm.startswith(("rehearsal/", "rehearsal+"))


def capability_of(llm: str) -> Capability:
    """From our table; for an llm that is not in it, from its server, when we can ask."""
    prices = getattr(settings, "AGENTDASH_PRICES", {})
    try:
        return capability(llm, prices)
    except UnknownLlm as unknown:
        env = settings.AGENTDASH
        if not env.has_key or is_rehearsal(llm):
            raise Invalid(str(unknown)) from None
    try:
        return connect(
            llm,
            key=env.anthropic_api_key,
            auth_token=env.anthropic_auth_token,
            base_url=env.anthropic_base_url,
            prices=prices,
        ).capability
    except UnknownLlm as unknown:
        raise Invalid(str(unknown)) from None
    except LlmTrouble as trouble:
        raise Invalid(
            f"What {llm!r} can do is not known here, and its server says nothing: {trouble}"
        ) from None


def policy_of(name: str, limit: int, max_turns: int, max_usd: float | None, known: Capability) -> Policy:
    """The policy with what was asked for beside it."""
    if limit < 0 or max_turns < 0 or (max_usd or 0) < 0:
        raise Invalid("Limit, turns and dollars cannot be negative. Leave them out for the policy's own.")
    changes: dict[str, Mapping[str, Any]] = {"window": {"limit": limit}} if limit else {}
    valves: dict[str, float] = {"turns": max_turns} if max_turns else {}
    if max_usd is not None:
        valves["usd"] = max_usd
    try:
        policy = load(name or "default")
        if changes or valves:
            policy = policy.changed(**changes, **({"valves": valves} if valves else {}))
    except PolicyError as mistake:
        raise Invalid(str(mistake)) from None
    if policy.valves.usd and known.price is None:
        raise Invalid(
            f"There is no price for {known.llm!r} here, so its dollars cannot be counted and the valve of "
            f"${policy.valves.usd:g} would never close. Put its price into {settings.AGENTDASH_HOME}/prices.toml, "
            "or go without that valve (--max-usd 0) and bound the run by turns or tokens."
        )
    return policy


def limit_for(goal: Message, policy: Policy, known: Capability) -> int:
    """The limit of the run's window, once it is sure that goal and tools leave room to work."""
    limit = limit_of(policy, known)
    try:
        first = first_request(goal, policy, known)
    except EngineError as mistake:
        raise Invalid(str(mistake)) from None
    mark = policy.window.mark
    if limit * mark < first + ROOM:
        enough = -(-int((first + ROOM) / mark) // 1000) * 1000
        raise Invalid(
            f"A limit of {limit:,} tokens is too small: goal and tools alone take {first:,}, and the window "
            f"is worked on at {mark:.0%} of the limit. Set a limit of {enough:,} or more, or shorten the goal."
        )
    return limit


def first_request(goal: Message, policy: Policy, known: Capability) -> int:
    """Tokens of the first request by our estimate: system prompt, tools and goal."""
    agent = assemble(
        Parts(
            slug="r-00000",
            policy=policy,
            llm=cast(Llm, Unasked(known)),
            version=Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),)),
            messages=(goal,),
            workspace=Path(),
            files=MemoryFiles(),
            history=MemoryHistory(),
            sandbox=cast(Sandbox, None),
            clock=ManualClock(),
            cancel=Cancel(),
        )
    )
    return agent.desk.read().tokens
