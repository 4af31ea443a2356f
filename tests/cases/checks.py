"""What must hold after a case. A word that stands here is checked; one that does not fails the case."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.engine import tokens
from runs.engine.memory import MemoryHistory
from runs.engine.messages import canonical, result_text
from runs.engine.ports import Cancel, ToolContext
from runs.engine.tokens import picture_size
from runs.engine.tools.files import ReadFile

from .ground import blocks_of
from .operations import Outcome, asked_bodies, billed, cost_usd, edits
from .structure import problems

Check = Callable[[Outcome, str], str]
"""Takes the outcome and what stands after the colon; '' when it holds, else what is wrong."""


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


def _all_blocks(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        yield from blocks_of(message)


def _text(outcome: Outcome) -> str:
    return json.dumps(outcome.sent, ensure_ascii=False)


def _contains(outcome: Outcome, rest: str) -> str:
    return "" if json.dumps(rest, ensure_ascii=False)[1:-1] in _text(outcome) else "not in what is sent"


def _not_contains_id(outcome: Outcome, rest: str) -> str:
    ids = {block.get("id") or block.get("tool_use_id") for block in _all_blocks(outcome.sent)}
    return "a block with that id is sent" if rest in ids else ""


def _unchanged(outcome: Outcome, rest: str) -> str:
    return "" if canonical(outcome.before) == canonical(outcome.sent) else "what is sent has changed"


def _user_texts(outcome: Outcome, rest: str) -> str:
    def texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
        users = [message for message in messages if message["role"] == "user"]
        return [block["text"] for block in _all_blocks(users) if block["type"] == "text"]

    return "" if texts(outcome.before) == texts(outcome.sent) else "the person's texts have changed"


def _error(outcome: Outcome, rest: str) -> str:
    wanted = _plain(rest)
    return "" if any(wanted in _plain(why) for why in outcome.failures) else f"reported: {outcome.failures}"


def _plain(words: str) -> str:
    return re.sub(r"[\W_]+", "", words).casefold()


def _summary_calls(outcome: Outcome, rest: str) -> str:
    made = len(outcome.ground.llm.asked)
    return "" if made <= int(rest) else f"{made} calls"


def _summary_valid(outcome: Outcome, rest: str) -> str:
    tools = outcome.ground.request().get("tools")
    for body in asked_bodies(outcome):
        uses = any(block["type"] in ("tool_use", "tool_result") for block in _all_blocks(body["messages"]))
        if uses and body.get("tools") != tools:
            return "tool blocks without the run's tools"
        if wrong := problems(body["messages"]):
            return "; ".join(wrong)
    return "" if outcome.ground.llm.asked else "no summary was asked for"


def _thinking_verbatim(outcome: Outcome, rest: str) -> str:
    given = [canonical(block) for block in _all_blocks(outcome.given) if "thinking" in block["type"]]
    sent = [canonical(block) for block in _all_blocks(outcome.sent) if "thinking" in block["type"]]
    return "" if all(block in given for block in sent) else "a thinking block was altered"


def _assistant_unchanged(outcome: Outcome, rest: str) -> str:
    wanted = canonical(blocks_of(outcome.given[int(rest)]))
    sent = [canonical(blocks_of(message)) for message in outcome.sent if message["role"] == "assistant"]
    return "" if wanted in sent else "that message is not sent as it was"


def _marks(outcome: Outcome) -> int:
    spots = [*outcome.body.get("system", []), *outcome.body.get("tools", []), *_all_blocks(outcome.sent)]
    return sum(1 for spot in spots if spot.get("cache_control"))


def _cache_le_4(outcome: Outcome, rest: str) -> str:
    return "" if _marks(outcome) <= 4 else f"{_marks(outcome)} marks"


def _cache_on_last(outcome: Outcome, rest: str) -> str:
    return "" if blocks_of(outcome.sent[-1])[-1].get("cache_control") else "no mark on the last message"


def _stable(outcome: Outcome, rest: str) -> str:
    return "" if canonical(outcome.ground.request()) == canonical(outcome.body) else "two builds differ"


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


def _pictures(outcome: Outcome, rest: str) -> str:
    found = sum(block["type"] == "image" for block in _all_blocks(outcome.sent))
    return "" if found == int(rest) else f"{found} pictures"


def _offloaded(outcome: Outcome, rest: str) -> str:
    for block in _all_blocks(outcome.sent):
        if block.get("tool_use_id") == rest:
            return "" if "@run/" in json.dumps(block["content"]) else "no path in the result"
    return "no such result"


def _result_is_error(outcome: Outcome, rest: str) -> str:
    found = [block for block in _all_blocks(outcome.sent) if block.get("tool_use_id") == rest]
    return "" if found and found[0].get("is_error") else "no error result"


def _billed(outcome: Outcome, rest: str) -> str:
    return "" if billed(outcome) == int(rest) else f"{billed(outcome)}"


def _shrink(outcome: Outcome, rest: str) -> str:
    done = [event.edit for event in edits(outcome)]
    return "" if done and all(edit.tokens_after < edit.tokens_before for edit in done) else "no smaller"


def _few_pictures(outcome: Outcome, rest: str) -> str:
    found = [block for block in _all_blocks(outcome.sent) if block["type"] == "image"]
    large = [block for block in found if max(picture_size(block) or (0, 0)) > 2000]
    return "" if len(found) <= 20 or not large else f"{len(found)} pictures, {len(large)} of them too large"


def _pictures_le(outcome: Outcome, rest: str) -> str:
    found = sum(block["type"] == "image" for block in _all_blocks(outcome.sent))
    return "" if found <= int(rest) else f"{found} pictures"


def _summary_fits(outcome: Outcome, rest: str) -> str:
    room = outcome.ground.llm.capability.context
    sizes = [_size(body) + body["max_tokens"] for body in asked_bodies(outcome)]
    return "" if sizes and max(sizes) <= room else f"{sizes} for a window of {room}"


def _size(body: Mapping[str, Any]) -> int:
    return tokens.of_content([*body.get("system", []), *_all_blocks(body["messages"])])


def _language(outcome: Outcome, rest: str) -> str:
    prompts = json.dumps([body["messages"][-1] for body in asked_bodies(outcome)], ensure_ascii=False)
    return (
        ""
        if re.search(r"Spanish|español|language of the conversation: ", prompts)
        else "no language is named"
    )


def _archive_complete(outcome: Outcome, rest: str) -> str:
    history = outcome.ground.desk.history
    assert isinstance(history, MemoryHistory)
    kept = {canonical(block) for message in history.messages for block in message.content}
    lost = [block for block in _all_blocks(outcome.given) if canonical(block) not in kept]
    return f"{len(lost)} blocks are not in the archive" if lost else ""


def _estimated(outcome: Outcome, rest: str) -> str:
    return "" if str(outcome.ground.desk.read().estimated).lower() == rest else "the flag says otherwise"


def _compactions(outcome: Outcome, rest: str) -> str:
    done = [event for event in edits(outcome) if event.edit.kind == "compact"]
    return "" if len(done) == int(rest) else f"{len(done)} compactions"


def _no_loop(outcome: Outcome, rest: str) -> str:
    return "" if len(outcome.ground.events) < 20 else f"{len(outcome.ground.events)} events"


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
    "summary_calls_le": _summary_calls,
    "summary_request_valid": _summary_valid,
    "thinking_verbatim": _thinking_verbatim,
    "assistant_unchanged": _assistant_unchanged,
    "cache_le_4": _cache_le_4,
    "cache_on_last_message": _cache_on_last,
    "stable_output": _stable,
    "context_tokens": _tokens,
    "context_tokens_between": _tokens_between,
    "percent": _percent,
    "compaction": _compaction,
    "images_eq": _pictures,
    "offloaded": _offloaded,
    "result_is_error": _result_is_error,
    "billed_input": _billed,
    "tokens_shrink": _shrink,
    "archive_complete": _archive_complete,
    "below_trigger": _below_trigger,
    "compactions_eq": _compactions,
    "cost_usd": _cost,
    "cost_usd_approx": _cost_approx,
    "estimate_flag": _estimated,
    "images_le": _pictures_le,
    "images_le_20_or_max_px_2000": _few_pictures,
    "no_loop": _no_loop,
    "offload_files_eq": _files_eq,
    "offload_paths_safe": _safe_paths,
    "prefix_rewrites_le": _rewrites,
    "read_le_tokens": _page_le,
    "summary_prompt_mentions_language": _language,
    "summary_requests_le_window": _summary_fits,
}
