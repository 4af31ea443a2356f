"""What is typed reaches the thread that waits for it: soon, in few pieces, and all of it."""

from __future__ import annotations

import asyncio
import queue

from runs.engine.events import Delta
from runs.engine.llm.handover import Handover, Item

SECONDS = 20


def pieces(words: str, *, block: int = 0, kind: str = "text") -> list[Delta]:
    return [
        Delta(turn=1, block=block, offset=at, text=letter, block_type=kind) for at, letter in enumerate(words)
    ]


def taken(items: queue.SimpleQueue[Item]) -> list[Item]:
    return [items.get_nowait() for _ in range(items.qsize())]


def test_what_is_typed_in_a_moment_goes_as_one_piece_for_each_block_and_before_the_end() -> None:
    items: queue.SimpleQueue[Item] = queue.SimpleQueue()

    async def type_all() -> list[Item]:
        over = Handover(items)
        for piece in pieces("thinking", kind="thinking") + pieces("text", block=1):
            over.typed(piece)
        early = taken(items)
        over.ended(ValueError("the end"))
        return early

    early, late = asyncio.run(type_all()), taken(items)
    assert early == []
    assert late[:-1] == [
        Delta(turn=1, block=0, offset=0, text="thinking", block_type="thinking"),
        Delta(turn=1, block=1, offset=0, text="text"),
    ]
    assert isinstance(late[-1], ValueError)


def test_what_waits_is_handed_over_though_nothing_follows() -> None:
    items: queue.SimpleQueue[Item] = queue.SimpleQueue()

    async def type_and_stop() -> list[Item]:
        over, heard = Handover(items), []
        for words in ("abc", "de"):
            for piece in pieces(words):
                over.typed(piece)
            heard.append(await asyncio.to_thread(items.get, timeout=SECONDS))
        return heard

    assert [item.text for item in asyncio.run(type_and_stop()) if isinstance(item, Delta)] == ["abc", "de"]
