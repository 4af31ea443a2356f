"""How many of the job's facts are within the agent's reach at the end: in its last request, or one recall away."""

from __future__ import annotations

import json
from collections.abc import Iterator

from runs.engine.llm.rehearsal.scripts.job import Fact, facts
from runs.engine.loop import Agent

from .job import Reach


def reach(turns: int, request: bytes, agent: Agent | None) -> Reach:
    """`request` is the last body that was sent; `agent` has the recall tool, None where nothing can be recalled."""
    planted = facts(turns)
    sight = "\n".join(texts_of(json.loads(request)))
    seen = [fact for fact in planted if fact.text in sight]
    again = [
        fact for fact in planted if fact in seen or (agent is not None and fact.text in recalled(agent, fact))
    ]
    return Reach(planted=_counted(planted), seen=_counted(seen), recalled=_counted(again))


def _counted(found: list[Fact] | tuple[Fact, ...]) -> tuple[int, int]:
    keyed = sum(fact.keyed for fact in found)
    return keyed, len(found) - keyed


def recalled(agent: Agent, fact: Fact) -> str:
    """What the agent's own tool says when asked for a fact by its name, without its value."""
    tool = agent.toolbox.get("recall")
    if tool is None:
        return ""
    query = fact.text.partition(":")[0] if fact.keyed else fact.text.partition(" opens")[0]
    result = tool.run(tool.Input(query=query), agent.acting.context)
    return str(result.content)


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
