"""Checks of numbers: tokens, money, files, how often something was asked or rewritten."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.engine import tokens
from runs.engine.messages import result_text
from runs.engine.ports import Cancel, ToolContext
from runs.engine.tools.files import ReadFile

from .ground import all_blocks, blocks_of
from .operations import Check, Outcome, asked_bodies, billed, cost_usd, edits, plain


def _summary_calls(outcome: Outcome, rest: str) -> str:
    made = len(outcome.ground.llm.asked)
    return "" if made <= int(rest) else f"{made} calls"


def _tokens(outcome: Outcome, rest: str) -> str:
    total = outcome.ground.desk.read().tokens
    return "" if total == int(rest) else f"{total} tokens"


def _tokens_between(outcome: Outcome, rest: str) -> str:
    low, high = map(int, rest.split(":"))
    total = outcome.ground.desk.read().tokens
    return "" if low <= total <= high else f"{total} tokens"


def _percent(outcome: Outcome, rest: str) -> str:
    share = outcome.ground.desk.share() * 100
    return "" if f"{share:.1f}" == f"{float(rest):.1f}" else f"{share:.1f} %"


def _compaction(outcome: Outcome, rest: str) -> str:
    desk = outcome.ground.desk
    due = "yes" if desk.share() >= desk.policy.compact_at else "no"
    return "" if due == rest else f"{desk.share() * 100:.1f} % of {desk.policy.compact_at * 100:.0f} %"


def _billed(outcome: Outcome, rest: str) -> str:
    return "" if billed(outcome) == int(rest) else f"{billed(outcome)}"


def _shrink(outcome: Outcome, rest: str) -> str:
    done = [event.edit for event in edits(outcome)]
    return "" if done and all(edit.tokens_after < edit.tokens_before for edit in done) else "no smaller"


def _summary_fits(outcome: Outcome, rest: str) -> str:
    room = outcome.ground.llm.capability.context
    sizes = [_size(body) + body["max_tokens"] for body in asked_bodies(outcome)]
    return "" if sizes and max(sizes) <= room else f"{sizes} for a window of {room}"


def _size(body: Mapping[str, Any]) -> int:
    return tokens.of_content([*body.get("system", []), *all_blocks(body["messages"])])


def _language(outcome: Outcome, rest: str) -> str:
    prompts = json.dumps([body["messages"][-1] for body in asked_bodies(outcome)], ensure_ascii=False)
    return (
        ""
        if re.search(r"Spanish|español|language of the conversation: ", prompts)
        else "no language is named"
    )


def _estimated(outcome: Outcome, rest: str) -> str:
    return "" if str(outcome.ground.desk.read().estimated).lower() == rest else "the flag says otherwise"


def _compactions(outcome: Outcome, rest: str) -> str:
    done = [event for event in edits(outcome) if event.edit.kind == "compact"]
    return "" if len(done) == int(rest) else f"{len(done)} compactions"


def _below_trigger(outcome: Outcome, rest: str) -> str:
    desk = outcome.ground.desk
    return "" if desk.share() < desk.policy.compact_at else f"still {desk.share() * 100:.0f} %"


def _files_eq(outcome: Outcome, rest: str) -> str:
    names = _files(outcome)
    return "" if len(names) == int(rest) else f"{names}"


def _files(outcome: Outcome) -> Sequence[str]:
    return outcome.ground.desk.files.names()


def _safe_paths(outcome: Outcome, rest: str) -> str:
    bad = [name for name in _files(outcome) if not re.fullmatch(r"[a-z]+/[\w.-]{1,60}", name)]
    return f"{bad}" if bad else ""


def _page_le(outcome: Outcome, rest: str) -> str:
    """Each page that read_file gives of an offloaded file is bounded, and is not offloaded again."""
    desk = outcome.ground.desk
    context = ToolContext(
        run=desk.slug, turn=9, key="k", workspace=Path(), files=desk.files, history=desk.history,
        notes=lambda: (), sandbox=None, cancel=Cancel(),  # type: ignore[arg-type]
        page_tokens=desk.shape.result_tokens,
    )  # fmt: skip
    for name in _files(outcome):
        result = ReadFile().run(ReadFile.Input(path=f"@run/{name}", limit=1), context)
        size = tokens.estimate(result_text({"content": result.content}))
        if result.is_error or size > int(rest):
            return f"{size} tokens a page"
    return "" if _files(outcome) else "no file"


def _rewrites(outcome: Outcome, rest: str) -> str:
    made = 0
    for before, after in itertools.pairwise(outcome.ground.prefixes):
        stable = [_unmarked(message) for message in before]
        made += [_unmarked(message) for message in after[: len(before)]] != stable
    return "" if made <= int(rest) else f"{made} rewrites"


def _unmarked(message: Mapping[str, Any]) -> Any:
    return [
        {key: value for key, value in block.items() if key != "cache_control"} for block in blocks_of(message)
    ]


def _cost(outcome: Outcome, rest: str) -> str:
    usd = cost_usd(outcome.params)
    return "" if f"{usd:.4f}" == f"{float(rest):.4f}" else f"${usd}"


def _cost_approx(outcome: Outcome, rest: str) -> str:
    wanted, tolerance = map(float, rest.split(":"))
    usd = cost_usd(outcome.params)
    return "" if abs(usd - wanted) <= tolerance else f"${usd}"


def _paused(outcome: Outcome, rest: str) -> str:
    held = outcome.ground.paused
    return "" if held and plain(rest) in plain(held) else f"paused for {held or 'nothing'}"


def _tools_stable(outcome: Outcome, rest: str) -> str:
    return "" if outcome.body["tools"] == outcome.ground.prefixes[0] else "the tools have changed"


def _stored(outcome: Outcome, rest: str) -> str:
    kept = [json.loads(body) for body in outcome.ground.stored]
    shown = [list(message.content) for message in outcome.ground.desk.window.messages.values()]
    return "" if kept and kept == shown else "what comes back is not what was stored"


def _utf8(outcome: Outcome, rest: str) -> str:
    whole = json.dumps(outcome.body, ensure_ascii=False)
    return "" if whole.encode("utf-8", "replace").decode() == whole else "a lone surrogate is left"


MEASURES: dict[str, Check] = {
    "paused": _paused,
    "stored_ok": _stored,
    "tools_stable": _tools_stable,
    "utf8_ok": _utf8,
    "summary_calls_le": _summary_calls,
    "context_tokens": _tokens,
    "context_tokens_between": _tokens_between,
    "percent": _percent,
    "compaction": _compaction,
    "billed_input": _billed,
    "tokens_shrink": _shrink,
    "below_trigger": _below_trigger,
    "compactions_eq": _compactions,
    "cost_usd": _cost,
    "cost_usd_approx": _cost_approx,
    "estimate_flag": _estimated,
    "offload_files_eq": _files_eq,
    "offload_paths_safe": _safe_paths,
    "prefix_rewrites_le": _rewrites,
    "read_le_tokens": _page_le,
    "summary_prompt_mentions_language": _language,
    "summary_requests_le_window": _summary_fits,
}
