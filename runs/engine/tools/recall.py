"""The past on demand: recall searches the run's archive, read_archive shows a turn as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from runs.engine.events import Effect, Recalled
from runs.engine.messages import Block, Message, canonical, result_text
from runs.engine.ports import Hit, Tool, ToolContext, ToolResult
from runs.engine.tokens import estimate

from .base import Given, plural, refused

PAGE = 20_000
"""Characters of a turn shown at once, where the tokens allow as many."""

MOST_HITS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """`k` hits where the llm does not say; together at most `tokens` (the policy's recall section)."""

    k: int = 5
    tokens: int = 2_000
    name: str = "recall"
    effect: Effect = Effect.PURE
    description: str = (
        "Search everything that was ever said, read or printed in this run, also what has left your window. "
        "Give words that stood there: a name, a path, an error's words, a number. Back come the best "
        "places, each with its turn and whole lines around the match; read_archive shows that turn in full. "
        "Use it before you read or run something again."
    )

    class Input(Given):
        query: Annotated[str, Field(min_length=1, max_length=1000, description="Words to find.")]
        k: Annotated[int | None, Field(ge=1, le=MOST_HITS, description="How many places at most.")] = None

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        if not given.query.strip():
            return refused("The query is blank. Give a word that stood there.")
        hits = list(context.history.search(given.query, given.k or self.k))
        asked = Recalled(turn=context.turn, query=given.query, hits=len(hits))
        if not hits:
            return ToolResult(
                content="Nothing in this run matches. Try fewer words, or another spelling.", events=(asked,)
            )
        return ToolResult(content=self._told(hits), events=(asked,))

    def _told(self, hits: Sequence[Hit]) -> str:
        """As many hits as the tokens allow, the best first; the last one cut at a line."""
        left, parts = self.tokens, []
        for hit in hits:
            title = f"turn {hit.turn}, message {hit.message} ({hit.kind}):"
            body = fitting(hit.text, left - estimate(title))
            if not body:
                break
            parts.append(f"{title}\n{body}")
            left -= estimate(parts[-1])
        missing = len(hits) - len(parts)
        if missing:
            parts.append(
                f"… {plural(missing, 'more place')}: ask for fewer or with other words, or read_archive."
            )
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArchive:
    """A page has at most `tokens` tokens and PAGE characters."""

    tokens: int = 6_000
    name: str = "read_archive"
    effect: Effect = Effect.PURE
    description: str = (
        "Show the original messages of one turn of this run, word for word, also when they have left your "
        "window. Summaries, markers and recall name the turn. A long turn comes in pages; the first line "
        "says how to go on."
    )

    class Input(Given):
        turn: Annotated[
            int, Field(ge=0, description="The turn's number; 0 is what was said before the first.")
        ]
        offset: Annotated[int, Field(ge=1, description="First character to show, from 1.")] = 1

    def run(self, given: Input, context: ToolContext) -> ToolResult:
        messages = context.history.of_turn(given.turn)
        if not messages:
            return refused(f"There is no turn {given.turn} in the archive yet; this is turn {context.turn}.")
        text = "\n\n".join(part for message in messages for part in _parts(message))
        if given.offset > max(1, len(text)):
            return refused(f"Turn {given.turn} has {len(text):,} characters. Choose an offset within them.")
        shown = beginning(text[given.offset - 1 : given.offset - 1 + PAGE], self.tokens)
        to = given.offset - 1 + len(shown)
        after = f"go on with offset={to + 1}" if to < len(text) else "the end"
        title = f"turn {given.turn}: characters {given.offset}-{to} of {len(text)}; {after}"
        return ToolResult(content=f"{title}\n{shown}", raw_bytes=len(text))


def tools(*, k: int = 5, tokens: int = 2_000) -> tuple[Tool, ...]:
    """What the technique `recall` brings."""
    return (Recall(k=k, tokens=tokens), ReadArchive())


def fitting(text: str, tokens: int) -> str:
    """The text, or as many of its first lines as fit into the tokens, with a line that says so; '' if none
    do.
    """
    if estimate(text) <= tokens:
        return text
    taken: list[str] = []
    left = tokens - 4
    for line in text.split("\n"):
        left -= estimate(line + "\n")
        if left < 0:
            break
        taken.append(line)
    return "\n".join([*taken, "[…]"]) if taken else ""


def beginning(text: str, tokens: int) -> str:
    """The first characters of the text that fit into the tokens; never none of them."""
    while len(text) > 1 and (size := estimate(text)) > tokens:
        text = text[: max(1, int(len(text) * 0.95 * tokens / size))]
    return text


def _parts(message: Message) -> Iterator[str]:
    """A message as text: a title, then each block that can be read."""
    yield f"message {message.number} ({message.author.value}, {message.kind.value}):"
    for block in message.content:
        yield _told(block)


def _told(block: Block) -> str:
    kind = block["type"]
    if kind == "text":
        return str(block["text"])
    if kind == "tool_use":
        return f"[call {block['name']}] {canonical(block['input']).decode()}"
    if kind == "tool_result":
        error = ", an error" if block.get("is_error") else ""
        return f"[result{error}]\n{result_text(block)}"
    if kind == "thinking":
        return f"[thinking]\n{block['thinking']}"
    return f"[{kind}]"
