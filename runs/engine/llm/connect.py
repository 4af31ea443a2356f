"""From the name of an llm to something that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import EngineError, LlmTrouble, Rejected
from ..ports import Capability, Llm
from . import table
from .rehearsal import scripts

if TYPE_CHECKING:
    from . import claude

Prices = Mapping[str, Mapping[str, float]]
"""Per llm what a person knows better: `input`, `output`, `cache_read`, `cache_write`, `cache_write_1h` in
dollars per million tokens; `context`, `max_output` in tokens."""


class UnknownLlm(EngineError):
    """Neither the server nor our table knows this llm."""

    def __init__(self, llm: str) -> None:
        super().__init__(
            f"The llm {llm!r} is not known: neither its server nor our table says how long its window is. "
            "Check the name, or set its context and max_output (tokens) and its price among the prices."
        )


def connect(
    llm: str,
    *,
    key: str = "",
    auth_token: str = "",
    base_url: str = "",
    pace: str = "human",
    prices: Prices | None = None,
) -> Llm:
    """An llm by name: "rehearsal", "rehearsal/<script>", or the id of a model behind the Messages API.

    `base_url` alone is enough for a server that wants no key. Raises UnknownLlm; Rejected without key and
    server; Unreachable when only the server could tell what the llm is, and it does not answer.
    """
    from . import claude  # the SDK takes seconds to import, and pages and orders need only the numbers

    if is_rehearsal(llm):
        return claude.Claude(capability(llm, prices), _rehearsal_client(pace))
    if not (key or auth_token or base_url):
        raise Rejected(
            "There is no key: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own."
        )
    client = claude.client(key, auth_token, base_url)
    return claude.Claude(_told(client, llm, prices or {}), client, diagnoses=not base_url)


def is_rehearsal(llm: str) -> bool:
    return llm == "rehearsal" or llm.startswith(("rehearsal/", "rehearsal+"))


def capability(llm: str, prices: Prices | None = None) -> Capability:
    """What is known of an llm without asking its server. Raises UnknownLlm."""
    if is_rehearsal(llm):
        _check_script(llm)
        return _overridden(replace(table.REHEARSAL, llm=llm), prices or {})
    known = table.find(llm) or _from_settings(llm, prices or {})
    if known is None:
        raise UnknownLlm(llm)
    return _overridden(known, prices or {})


def _check_script(llm: str) -> None:
    name = llm.removeprefix("rehearsal").removeprefix("/").partition("+")[0]
    if name and not scripts.known(name):
        raise UnknownLlm(llm)


@cache
def _rehearsal_client(pace: str) -> claude.Client:
    from . import claude
    from .rehearsal.standin import StandIn
    from .rehearsal.transport import InProcess

    return claude.make_client(base_url="http://rehearsal", transport=InProcess(StandIn(pace=pace)))


def _told(client: claude.Client, llm: str, prices: Prices) -> Capability:
    """What the server says of the llm; its silence is no harm while our table or the settings know it."""
    from . import claude

    known = table.find(llm) or _from_settings(llm, prices)
    try:
        told = claude.about(client, llm)
    except (LlmTrouble, TimeoutError):
        if known is None:
            raise
        return _overridden(known, prices)
    context, output = told.get("max_input_tokens"), told.get("max_tokens")
    if known is None and not (context and output):
        raise UnknownLlm(llm)
    base = known or Capability(llm=llm, context=int(context or 0), max_output=int(output or 0))
    base = replace(
        base,
        context=int(context or base.context),
        max_output=int(output or base.max_output),
        thinking=_thinking(told.get("capabilities"), base.thinking),
    )
    return _overridden(base, prices)


def _thinking(told: Mapping[str, Any] | None, known: str) -> str:
    """none, manual, adaptive or bound, from the server's capabilities. They do not say whether thinking is bound to
    what stands before it: where our table does not know either it counts as bound, for that is never refused."""
    about = (told or {}).get("thinking")
    if not about:
        return known
    types = about.get("types") or {}
    can = {kind for kind in ("adaptive", "enabled") if (types.get(kind) or {}).get("supported")}
    if not about.get("supported") or not can:
        return "none"
    if "adaptive" in can:
        return known if known in ("adaptive", "bound") else "bound"
    return "manual"


def _from_settings(llm: str, prices: Prices) -> Capability | None:
    given = prices.get(llm, {})
    if not (given.get("context") and given.get("max_output")):
        return None
    return Capability(llm=llm, context=int(given["context"]), max_output=int(given["max_output"]))


def _overridden(known: Capability, prices: Prices) -> Capability:
    given = prices.get(known.llm)
    if not given:
        return known
    changed: dict[str, Any] = {key: int(given[key]) for key in ("context", "max_output") if key in given}
    if "input" in given and "output" in given:
        base = table.price(given["input"], given["output"])
        cached = {
            key: round(given[key] * 1_000_000)
            for key in ("cache_read", "cache_write", "cache_write_1h")
            if key in given
        }
        changed["price"] = replace(base, **cached)
    return replace(known, **changed)
