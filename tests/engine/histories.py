"""Random conversations and random edits: what the property tests are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from runs.engine.messages import Block, text

from .stage import GOAL, bot, gave, lines, thought, use, user

WORDS = st.sampled_from(
    [
        "",
        "  ",
        "\n",
        "ok",
        "naïve café",
        "你好世界",
        "👩‍🔬",
        "KEY-12: value 7",
        "x" * 400,
        "a\tb\u00a0c",
        "<notes>",
    ]
)
NAMES = st.sampled_from(["read_file", "run_command", "recall", "take_note", "search_files"])
PICTURE: Block = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


@st.composite
def results(draw: st.DrawFn, call_id: str) -> Block:
    size = draw(st.sampled_from([0, 0, 1, 8, 30, 120]))
    body = lines(call_id, size) or draw(WORDS)
    shape = draw(st.sampled_from(["text", "text", "text", "blocks", "picture"]))
    content: Any = body
    if shape == "blocks":
        content = [text(body), text(draw(WORDS))]
    if shape == "picture":
        content = [text(body or "a picture"), PICTURE]
    return gave(call_id, content, error=draw(st.integers(0, 5)) == 0)


@st.composite
def turns(draw: st.DrawFn, number: int, *, ask: bool) -> list[dict[str, Any]]:
    """An answer and the results of its calls. `ask`: at least one call (the run goes on)."""
    blocks: list[Block] = []
    if draw(st.booleans()):
        blocks.append(thought(f"Turn {number}.", draw(st.sampled_from([f"sig{number}", f"sig{number}", ""]))))
    blocks.append(text(draw(WORDS)))
    calls = [
        use(f"t{number}_{at}", draw(NAMES), path=f"f{number}.py")
        for at in range(draw(st.integers(1 if ask else 0, 4)))
    ]
    if not calls:
        blocks.append(text(f"I think about {number}."))
    answers = [draw(results(call["id"])) for call in calls]
    spoken = [bot(*blocks, *calls)]
    return [*spoken, user(*answers)] if answers else spoken


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A goal, some turns, and now and then a word of the person between two of them."""
    spoken = [user(GOAL)]
    for number in range(1, draw(st.integers(0, 9)) + 1):
        spoken += draw(turns(number, ask=True))
        if draw(st.integers(0, 4)) == 0:
            spoken.append(user(f"Person says {number}: " + draw(WORDS) + "!"))
    return spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing that happens to a window. `keep` messages; `reply`: what the summariser does."""

    what: str
    keep: int | None = None
    method: str = "summary"
    reply: str = "perfect"
    turn: Sequence[dict[str, Any]] = ()


@st.composite
def acts(draw: st.DrawFn, at: int) -> Act:
    what = draw(
        st.sampled_from(["turn", "turn", "compact", "clear_results", "clear", "offload", "say", "mark"])
    )
    return Act(
        what=what,
        keep=draw(st.sampled_from([None, None, 0, 1, 3, 6])),
        method=draw(st.sampled_from(["summary", "both", "clear"])),
        reply=draw(st.sampled_from(["perfect", "lossy", "failing", "empty", "tool", "cut", "huge"])),
        turn=draw(turns(100 + at, ask=True)) if what == "turn" else (),
    )


@st.composite
def chains(draw: st.DrawFn) -> list[Act]:
    return [draw(acts(at)) for at in range(draw(st.integers(1, 6)))]
