"""Refuses what the Messages API refuses, in its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .count import blocks_of, pixels
from .fields import check_body, check_message
from .wire import Invalid

MOST_MESSAGES = 100_000
MOST_PICTURES = 100
MANY_PICTURES, MANY_PIXELS, MOST_PIXELS = 20, 2_000, 8_000
MOST_PICTURE_BYTES = 5 * 1024 * 1024
MOST_MARKS = 4
LEAST_BUDGET = 1_024

_UNANSWERED = (
    "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
_UNEXPECTED = (
    "messages.{n}.content.{j}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. "
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)
_TWICE = "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
_PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a user message."
)
_THINKING_FIRST = (
    "messages.{n}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. "
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
    "lastmost set of `tool_use` and `tool_result` blocks)."
)
_THINKING = ("thinking", "redacted_thinking")
_ROLE_OF = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "server_tool_use": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What differs between llms: `thinking` none, manual, adaptive, bound; `max_output` tokens."""

    llm: str
    max_output: int
    thinking: str

    @property
    def newer(self) -> bool:
        """4.6 and later: no prefill, no sampling parameters."""
        return self.thinking in ("adaptive", "bound")


@dataclass(frozen=True, slots=True)
class _Part:
    """One block with its place in the request; neighbours of one role form one `group`."""

    group: int
    role: str
    number: int
    index: int
    block: Mapping[str, Any]


def validate(body: Mapping[str, Any], rules: Rules, *, beta: str = "") -> None:
    """Raises Invalid with the API's sentence for the first thing that is wrong. `beta`: the anthropic-beta
    header."""
    check_body(body, beta=beta, sampling=not rules.newer)
    messages = body["messages"]
    if not messages:
        raise Invalid("messages: at least one message is required")
    if len(messages) > MOST_MESSAGES:
        raise Invalid(f"messages: List should have at most {MOST_MESSAGES} items after validation")
    for number, message in enumerate(messages):
        check_message(number, message, system_role=rules.thinking == "bound")
    _check_max_tokens(body, rules)
    parts = _parts(messages)
    _check_marks(body, parts)
    _check_texts(messages, parts)
    _check_roles(parts)
    _check_pairs(body, parts)
    _check_end(messages, rules)
    _check_thinking(body, messages, rules)
    _check_pictures(parts)


def _parts(messages: Sequence[Mapping[str, Any]]) -> list[_Part]:
    parts, group, role = [], -1, ""
    for number, message in enumerate(messages):
        if message["role"] != role:
            group, role = group + 1, message["role"]
        for index, block in enumerate(blocks_of(message["content"])):
            parts.append(_Part(group, role, number, index, block))
    return parts


def _check_max_tokens(body: Mapping[str, Any], rules: Rules) -> None:
    if "max_tokens" not in body:
        raise Invalid("max_tokens: Field required")
    asked = body["max_tokens"]
    if not isinstance(asked, int) or isinstance(asked, bool):
        raise Invalid("max_tokens: Input should be a valid integer")
    if asked < 0:
        raise Invalid("max_tokens: Input should be greater than or equal to 0")
    if asked > rules.max_output:
        most = f"{rules.max_output}, which is the maximum allowed number of output tokens for {rules.llm}"
        raise Invalid(f"max_tokens: {asked} > {most}")


def _check_texts(messages: Sequence[Mapping[str, Any]], parts: Sequence[_Part]) -> None:
    last = len(messages) - 1
    for number, message in enumerate(messages):
        if not message["content"] and not (number == last and message["role"] == "assistant"):
            raise Invalid(
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
    for part in parts:
        for text in _texts(part.block):
            if not text:
                raise Invalid("messages: text content blocks must be non-empty")
            if not text.strip():
                raise Invalid("messages: text content blocks must contain non-whitespace text")


def _texts(block: Mapping[str, Any]) -> Iterator[str]:
    if block["type"] == "text":
        yield block["text"]
    if block["type"] == "tool_result" and isinstance(block.get("content"), list):
        yield from (inner["text"] for inner in block["content"] if inner["type"] == "text")


def _check_roles(parts: Sequence[_Part]) -> None:
    for part in parts:
        kind, where = part.block["type"], f"messages.{part.number}.content.{part.index}"
        only = _ROLE_OF.get(kind, part.role)
        if only != part.role:
            raise Invalid(f"{where}: `{kind}` blocks can only be in `{only}` messages")
        if kind == "tool_result" and part.block.get("is_error") and not part.block.get("content"):
            raise Invalid(f"{where}.tool_result: content cannot be empty if `is_error` is true")


def _check_pairs(body: Mapping[str, Any], parts: Sequence[_Part]) -> None:
    """Every call is answered in the next message, results first and once; no result without its call."""
    seen: set[str] = set()
    groups: dict[int, list[_Part]] = {}
    for part in parts:
        groups.setdefault(part.group, []).append(part)
        if part.block["type"] == "tool_use":
            if part.block["id"] in seen:
                raise Invalid(f"messages.{part.number}.content.{part.index}: `tool_use` ids must be unique")
            seen.add(part.block["id"])
    if not body.get("tools") and any(part.block["type"] in ("tool_use", "tool_result") for part in parts):
        raise Invalid("Requests which include `tool_use` or `tool_result` blocks must define tools")
    for group, inside in groups.items():
        _check_answered(inside, groups.get(group + 1, []))
        _check_results(inside, groups.get(group - 1, []))


def _check_answered(inside: Sequence[_Part], following: Sequence[_Part]) -> None:
    calls = [part for part in inside if part.block["type"] == "tool_use"]
    if not calls:
        return
    answered = set()
    for part in following:
        if part.block["type"] != "tool_result":
            break
        answered.add(part.block["tool_use_id"])
    missing = [part for part in calls if part.block["id"] not in answered]
    if missing:
        ids = ", ".join(part.block["id"] for part in missing)
        raise Invalid(_UNANSWERED.format(n=missing[0].number, ids=ids))


def _check_results(inside: Sequence[_Part], before: Sequence[_Part]) -> None:
    asked = {part.block["id"] for part in before if part.block["type"] == "tool_use"}
    given: set[str] = set()
    for part in inside:
        if part.block["type"] != "tool_result":
            continue
        name = part.block["tool_use_id"]
        if name not in asked:
            raise Invalid(_UNEXPECTED.format(n=part.number, j=part.index, id=name))
        if name in given:
            raise Invalid(f"messages.{part.number}.content.{part.index}: {_TWICE.format(id=name)}")
        given.add(name)


def _check_end(messages: Sequence[Mapping[str, Any]], rules: Rules) -> None:
    if messages[-1]["role"] != "assistant":
        return
    if rules.newer:
        raise Invalid(_PREFILL)
    blocks = blocks_of(messages[-1]["content"])
    if blocks and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        raise Invalid("messages: final assistant content cannot end with trailing whitespace")


def _check_thinking(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], rules: Rules) -> None:
    asked = body.get("thinking") or {}
    _check_budget(body, asked, rules)
    for number, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        if message["role"] == "assistant" and blocks and blocks[-1]["type"] in _THINKING:
            raise Invalid(f"messages.{number}: The final block in an assistant message cannot be `thinking`.")
    number = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    if asked.get("type") != "enabled" or number < 0:
        return
    blocks = blocks_of(messages[number]["content"])
    if any(block["type"] == "tool_use" for block in blocks) and blocks[0]["type"] not in _THINKING:
        raise Invalid(_THINKING_FIRST.format(n=number, kind=blocks[0]["type"]))


def _check_budget(body: Mapping[str, Any], asked: Mapping[str, Any], rules: Rules) -> None:
    kind = asked.get("type")
    if kind in ("enabled", "adaptive") and (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        raise Invalid("Thinking may not be enabled when tool_choice forces tool use.")
    if kind == "adaptive" and not rules.newer:
        raise Invalid("adaptive thinking is not supported on this model")
    if kind != "enabled":
        return
    budget = asked.get("budget_tokens")
    if not isinstance(budget, int):
        raise Invalid("thinking.enabled.budget_tokens: Field required")
    if budget < LEAST_BUDGET:
        raise Invalid(
            f"thinking.enabled.budget_tokens: Input should be greater than or equal to {LEAST_BUDGET}"
        )
    if budget >= body["max_tokens"]:
        raise Invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_marks(body: Mapping[str, Any], parts: Sequence[_Part]) -> None:
    """At most four marks in tools, system, messages and the top level; long ones before short ones."""
    carriers = [*(body.get("tools") or ()), *blocks_of(body.get("system") or [])]
    carriers += [part.block for part in parts]
    marks = [carrier["cache_control"] for carrier in (*carriers, body) if carrier.get("cache_control")]
    if len(marks) > MOST_MARKS:
        raise Invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    short = False
    for mark in marks:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            raise Invalid("cache_control: Input should be {'type': 'ephemeral', 'ttl': '5m' or '1h'}")
        if short and mark.get("ttl") == "1h":
            raise Invalid(
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
            )
        short = short or mark.get("ttl", "5m") == "5m"
    for part in parts:
        if part.block.get("cache_control") and part.block.get("text") == "":
            raise Invalid("cache_control cannot be set for empty text blocks")


def _check_pictures(parts: Sequence[_Part]) -> None:
    pictures = [
        (part, block)
        for part in parts
        for block in (part.block, *_inner(part.block))
        if block["type"] == "image"
    ]
    if len(pictures) > MOST_PICTURES:
        raise Invalid(f"Too much media: 0 document pages + {len(pictures)} images > {MOST_PICTURES}")
    for part, block in pictures:
        _check_picture(f"messages.{part.number}.content.{part.index}.image.source", block, len(pictures))


def _check_picture(where: str, block: Mapping[str, Any], count: int) -> None:
    size = len(block["source"].get("data") or "")
    if size > MOST_PICTURE_BYTES:
        raise Invalid(
            f"{where}.base64: image exceeds 5 MB maximum: {size} bytes > {MOST_PICTURE_BYTES} bytes"
        )
    side, many = max(pixels(block["source"]) or (0,)), count > MANY_PICTURES
    if side > (MANY_PIXELS if many else MOST_PIXELS):
        most = f" for many-image requests: {MANY_PIXELS}" if many else f": {MOST_PIXELS}"
        said = f"At least one of the image dimensions exceed max allowed size{most} pixels"
        raise Invalid(f"{where}.base64.data: {said}")


def _inner(block: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = block.get("content")
    return content if isinstance(content, list) else ()
