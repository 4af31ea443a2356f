"""Random conversations and random acts on their window: what the property tests and the fuzz are made of. Plain JSON,
so that a chain that breaks a rule can be written down as a case."""

from __future__ import annotations

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
        "\u202eback\u200b",
        "KEY-12: value 7",
        "x" * 400,
        "a\tb\u00a0c",
        "<notes>",
        '<summary turns="1-9">',
    ]
)
NAMES = st.sampled_from(["read_file", "run_command", "search_files", "read_file", "recall", "take_note"])
PICTURE: Block = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
DOCUMENT: Block = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "page 1"},
}
SHAPES = ["text", "text", "text", "text", "blocks", "blank", "picture", "document"]
REPLIES = ["perfect", "lossy", "failing", "empty", "tool", "cut", "huge", "refused", "thinking"]
WHATS = (
    *("turn", "turn", "turn", "say", "mark", "mark", "compact", "compact", "clear_results", "clear_thinking"),
    *("clear", "offload", "pin", "unpin", "drop", "undo", "undo"),
)


@st.composite
def results(draw: st.DrawFn, call_id: str) -> Block:
    size = draw(st.sampled_from([30, 0, 30, 60, 8, 120]))
    body = lines(call_id, size) or draw(WORDS)
    more: dict[str, Any] = {
        "text": body,
        "blocks": [text(body), text(draw(WORDS))],
        "blank": [text(" "), text("")],
        "picture": [text(body or "a picture"), PICTURE],
        "document": [DOCUMENT, text(body or "a page")],
    }
    return gave(call_id, more[draw(st.sampled_from(SHAPES))], error=draw(st.integers(0, 7)) == 7)


@st.composite
def thoughts(draw: st.DrawFn, number: int) -> list[Block]:
    """None, signed, unsigned, signed and empty, redacted, or several."""
    kinds: dict[str, list[Block]] = {
        "none": [],
        "signed": [thought(f"Turn {number}.", f"sig{number}")],
        "empty": [thought("", f"sig{number}")],
        "unsigned": [thought(f"Turn {number}.", "")],
        "redacted": [{"type": "redacted_thinking", "data": f"cmVk{number}"}],
        "both": [thought("a", f"siga{number}"), {"type": "redacted_thinking", "data": f"cmVk{number}"}],
    }
    return kinds[
        draw(st.sampled_from(["signed", "none", "signed", "signed", "empty", "unsigned", "redacted", "both"]))
    ]


@st.composite
def searches(draw: st.DrawFn, number: int) -> list[Block]:
    """A server tool's call and what it found; now and then one of both alone."""
    call = {"type": "server_tool_use", "id": f"srv{number}", "name": "web_search", "input": {"query": "lamp"}}
    found = {"type": "web_search_tool_result", "tool_use_id": f"srv{number}", "content": []}
    which = draw(st.integers(0, 11))
    return {0: [call, found], 1: [call], 2: [found]}.get(which, [])


@st.composite
def turns(draw: st.DrawFn, number: int, *, ask: bool) -> list[dict[str, Any]]:
    """An answer and the results of its calls. `ask`: at least one call (the run goes on)."""
    blocks: list[Block] = [*draw(thoughts(number)), text(draw(WORDS)), *draw(searches(number))]
    calls = [
        use(f"t{number}_{at}", draw(NAMES), path=f"f{number}.py")
        for at in range(draw(st.sampled_from([1, 1, 2, 4] if ask else [0, 1])))
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
    for number in range(1, draw(st.sampled_from([4, 0, 1, 2, 3, 5, 6, 8])) + 1):
        spoken += draw(turns(number, ask=draw(st.integers(0, 6)) > 0))
        if spoken[-1]["role"] == "assistant" or draw(st.integers(0, 4)) == 0:
            spoken.append(user(f"Person says {number}: " + draw(WORDS) + "!"))
    return spoken


@st.composite
def acts(draw: st.DrawFn, at: int) -> dict[str, Any]:
    """One act of a chain (tests.cases.chain), with what it takes."""
    what = draw(st.sampled_from(WHATS))
    act: dict[str, Any] = {"what": what}
    if what == "turn":
        act["messages"] = draw(turns(100 + at, ask=draw(st.integers(0, 6)) > 0))
    if what == "say":
        act["text"] = f"Person says more, {at}: " + "please " * draw(st.sampled_from([1, 40]))
    if what in ("compact", "clear_results", "clear_thinking"):
        act["keep"] = draw(st.sampled_from([None, None, 0, 1, 3, 6]))
    if what == "compact":
        act |= {"method": draw(st.sampled_from(["summary", "summary", "both", "clear"]))}
    if what in ("compact", "mark"):
        act["reply"] = draw(st.sampled_from(REPLIES))
    if what in ("pin", "unpin", "drop"):
        act["at"] = draw(st.integers(0, 12))
    if what == "undo":
        act["back"] = draw(st.integers(1, 3))
    return act


@st.composite
def chains(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Acts in a row. What was pinned is often folded next: there a pin must hold."""
    chosen: list[dict[str, Any]] = []
    for at in range(draw(st.sampled_from([5, 1, 2, 3, 4, 6, 7]))):
        chosen.append(draw(acts(at)))
        if chosen[-1]["what"] == "pin" and draw(st.booleans()):
            chosen.append({"what": "compact", "keep": 0, "method": "summary", "reply": "perfect"})
    return chosen
