"""Asking for a summary, and deciding whether what came back is one (W10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import tokens
from ..errors import BadRequest, LlmTrouble
from ..events import Usage
from ..language import language_of
from ..messages import (
    Block,
    Kind,
    Message,
    calls_of,
    canonical,
    clean,
    result_text,
    results_of,
    sha256,
    texts_of,
)
from ..policy.model import smaller
from ..ports import Answer, Request
from ..window.head import notes_text
from ..window.ledger import FILES
from ..window.versions import Entry
from .base import Desk
from .valves import reached

PROMPT = Path(__file__).with_name("compact.md")
RESULT_CHARACTERS = 2000
_MARKUP = re.compile(
    r"^\s*(?:```\w*\s*)?(?:<(?:\w+:)?(?:invoke|function_calls?|tool_use|tool_calls?)\b|\[TOOL_CALLS?\]"
    r"|\{\s*\"(?:name|tool|function)\"\s*:)"
)
"""A call that was written out as text, in the spellings of several llms."""

_WRAPPED = re.compile(r"^\s*<summary[^>]*>\s*(.*?)\s*</summary>\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """`problem` is empty when `text` may be used; else it names why nothing changes."""

    text: str = ""
    problem: str = ""
    usage: Usage = Usage()
    calls: int = 0


def summarise(
    desk: Desk, prefix: Sequence[Entry], span: Sequence[Entry], ledger: str, instructions: str
) -> Summary:
    """First on the same prefix (the cache has it), then once more as a flattened transcript of the span."""
    try:
        prompt = prompt_text(desk, ledger, instructions)
    except (OSError, UnicodeDecodeError) as error:
        return Summary(problem=f"the prompt {desk.policy.compact.prompt!r} cannot be read: {error}")
    first = _on_prefix(desk, prefix, prompt)
    if not first.problem or first.problem.startswith("summary failed") or (first.calls and reached(desk)):
        return first
    second = _flattened(desk, span, prompt)
    return replace(second, usage=first.usage + second.usage, calls=first.calls + second.calls)


def prompt_text(desk: Desk, ledger: str, instructions: str) -> str:
    own = desk.policy.compact.prompt
    body = Path(own).read_text(encoding="utf-8") if own else PROMPT.read_text(encoding="utf-8")
    episode = desk.policy.episode
    limit = smaller(episode.tokens, episode.share, desk.limit)
    body = body.replace("{tokens}", f"{limit:,}").replace("{words}", f"{limit // 2:,}")
    body = body.replace("{language}", _language(desk))
    aside = [f"\nThe person asks for this summary: {clean(instructions)}"] if instructions else []
    known = "\n".join(part for part in (ledger, notes_text(desk.notes.values(), limit)) if part)
    if known:
        aside.append(
            f"\nThese lines stay in the new window beside your summary. They are not to be repeated:\n{known}"
        )
    return "\n".join([body.strip(), *aside])


def _language(desk: Desk) -> str:
    """Of what the person wrote: tools and code speak English whatever the conversation does."""
    return language_of(
        texts_of(message.content) for message in desk.window.messages.values() if message.is_persons
    )


def _on_prefix(desk: Desk, prefix: Sequence[Entry], prompt: str) -> Summary:
    """The whole window where it fits, else up to the cut: both begin as the cache (and bound thinking) knows them.
    What does not fit is not asked, and another llm has no such prefix."""
    if desk.summariser is not desk.llm:
        return Summary(problem="the prefix is known to the run's own llm only")
    room = desk.llm.capability.context - int(desk.frame.params["request"]["max_tokens"]) - _size(desk, prompt)
    fits = [
        shown
        for shown in (desk.window.entries, prefix)
        if desk.gauge.estimate(desk.with_blocks(shown)) <= room
    ]
    if not fits:
        return Summary(problem="the window is too long to be summarised at once")
    rendered = desk.renderer.render(desk.frame, fits[0], desk.window.calls(), desk.turn, aside=prompt)
    return _ask(desk, rendered.request)


def _size(desk: Desk, text: str) -> int:
    return round(tokens.estimate(text) * max(1.0, desk.gauge.ratio))


def _flattened(desk: Desk, span: Sequence[Entry], prompt: str) -> Summary:
    """A transcript in one message, without tools; in parts that fit, each folded into the next."""
    context, answer = desk.summariser.capability.context, _answer_room(desk)
    episode = min(smaller(desk.policy.episode.tokens, desk.policy.episode.share, desk.limit), context // 6)
    room = int((0.9 * context - answer - episode - _size(desk, prompt)) / max(1.0, desk.gauge.ratio))
    so_far = Summary()
    for part in _parts(_flat(desk, span), max(room, context // 8)):
        if so_far.calls and reached(desk):
            return replace(so_far, text="", problem="a valve is reached, and the summary is not whole")
        known = f"Summary so far:\n{so_far.text}\n\n" if so_far.text else ""
        body = f"{known}Transcript:\n{part}\n\n{prompt}"
        told = _ask(desk, _plain_request(desk, body))
        so_far = replace(told, usage=so_far.usage + told.usage, calls=so_far.calls + told.calls)
        if so_far.problem:
            break
    return so_far


def _answer_room(desk: Desk) -> int:
    """Tokens that the answer to a flattened transcript may have."""
    own = desk.summariser.capability
    return min(int(desk.frame.params["request"]["max_tokens"]), own.context // 4, own.max_output)


def _parts(lines: Sequence[str], budget: int) -> list[str]:
    """Neighbouring lines joined while they fit; a line that alone is too long is cut to what fits."""
    parts: list[str] = []
    current: list[str] = []
    size = 0
    for line in lines:
        length = tokens.estimate(line)
        while length > budget:
            line = line[: max(1, int(len(line) * 0.95 * budget / length))]
            length = tokens.estimate(line)
        if current and size + length > budget:
            parts.append("\n".join(current))
            current, size = [], 0
        current.append(line)
        size += length
    return [*parts, "\n".join(current)]


def _flat(desk: Desk, span: Sequence[Entry]) -> list[str]:
    """Each entry as it stands in the window: what is cleared there is not paid for once more."""
    return [_told(entry.message, blocks) for entry, blocks in desk.with_blocks(span)]


def _told(message: Message, blocks: Sequence[Block]) -> str:
    said = texts_of(blocks)
    lines = [
        f"[{message.author.value}, turn {message.turn}] {_short(said) if message.is_persons else said}".rstrip()
    ]
    for call in calls_of(blocks):
        lines.append(f"  call {call['name']} {canonical(call['input']).decode()[:RESULT_CHARACTERS]}")
    for block in results_of(blocks):
        lines.append(f"  result{' (error)' if block.get('is_error') else ''}: {_short(result_text(block))}")
    return "\n".join(lines)


def _short(body: str) -> str:
    half = RESULT_CHARACTERS // 2
    return body if len(body) <= RESULT_CHARACTERS else f"{body[:half]}\n[…]\n{body[-half:]}"


def _plain_request(desk: Desk, body: str) -> Request:
    kwargs = {
        "model": desk.summariser.capability.llm,
        "max_tokens": _answer_room(desk),
        "metadata": {"user_id": f"{desk.slug}:{desk.turn}:summary"},
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": body}]}],
    }
    data = canonical(kwargs)
    return Request(body=data, sha256=sha256(data), turn=desk.turn)


def _ask(desk: Desk, request: Request) -> Summary:
    try:
        answers = [
            event for event in desk.summariser.answer(request, desk.cancel) if isinstance(event, Answer)
        ]
    except BadRequest as error:
        return Summary(problem=f"summary refused as invalid: {error}", calls=1)
    except LlmTrouble as error:
        return Summary(problem=f"summary failed: {error}", calls=1)
    if not answers:
        return Summary(problem="summary failed: no answer came", calls=1)
    desk.spend(answers[0].usage, desk.summariser)
    return judged(answers[0])


def judged(answer: Answer) -> Summary:
    """A summary is whole, is text, and says something. Everything else changes nothing."""
    body = clean(texts_of(answer.content)).strip()
    wrapped = _WRAPPED.match(body)
    body = wrapped[1] if wrapped else body
    problem = ""
    if answer.stop_reason == "refusal":
        problem = "summary refused by the llm (refusal)"
    elif calls_of(answer.content) or answer.stop_reason == "tool_use":
        problem = "no summary: a tool call came instead (an empty summary)"
    elif answer.stop_reason != "end_turn":
        problem = f"summary truncated: it was cut off ({answer.stop_reason})"
    elif not body or _MARKUP.match(body):
        problem = "empty summary"
    return Summary(text=body, problem=problem, usage=answer.usage, calls=1)


def without_known(body: str, known: str) -> str:
    """The summary less the lines that the ledger holds, and less its own lists of files as they were at the time of
    an earlier one: else they multiply with each summary."""
    lines = {line.partition(": ")[2].strip() for line in known.splitlines()} | set(known.splitlines())
    kept = [line for line in body.splitlines() if line.strip(" -*•") not in lines or not line.strip()]
    return "\n".join(line for line in kept if not line.strip(" -*•").startswith(FILES))


def is_work(entry: Entry) -> bool:
    """What a summary is made of: answers and results, not the product's own lines nor what a person said."""
    return entry.message.kind in (Kind.ANSWER, Kind.RESULTS)
