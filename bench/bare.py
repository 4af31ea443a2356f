"""The SDK's raw call in a loop: no memory, no archive, no policy. What anything on top of it is measured against.

Where the engine would compact it forgets all but the last turn, so that its requests are about as long.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from runs.engine.events import Usage
from runs.engine.llm import claude
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.transport import InProcess
from runs.engine.ports import schema_of
from runs.engine.tools import standard

from .job import LIMIT, Job, Result
from .meter import Metered, rss_mb
from .reach import reach

MARK = 0.6
KEPT = 2
"""Messages that stay when the loop forgets: the last answer and its results."""

MAX_TOKENS = 16_000


def run(job: Job, folder: Path) -> Result:
    """The job in an empty folder."""
    meter = Metered()
    loop = Loop(job, folder, claude.make_client(base_url="http://rehearsal", transport=InProcess(meter)))
    meter.rss_before = rss_mb()
    asyncio.run(loop.run())
    meter.clocks.mark()
    cpu, wall = meter.clocks.per_turn()
    return Result(
        job=job,
        turns=loop.turns,
        state="done",
        cpu_ms=cpu,
        wall_ms=wall,
        rss_before=meter.rss_before,
        rss_peak=rss_mb(),
        usage=loop.usage,
        rewritten=meter.books.rewritten,
        window_max=loop.longest,
        reach=reach(job.turns, meter.last, None),
    )


class Loop:
    def __init__(self, job: Job, folder: Path, client: claude.Client) -> None:
        script = scripts.get(f"job-{job.turns}")
        script.make_workspace(folder)
        self.job, self.folder, self.client = job, folder, client
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": script.goal}]
        self.tools = [dict(schema_of(tool)) for tool in standard()]
        self.usage = Usage()
        self.turns = self.longest = 0

    async def run(self) -> None:
        while True:
            self.turns += 1
            content, prompt = await self._answer()
            calls = [block for block in content if block["type"] == "tool_use"]
            self.messages.append({"role": "assistant", "content": content})
            if not calls:
                return
            self.messages.append({"role": "user", "content": [self._result(call) for call in calls]})
            if prompt > MARK * LIMIT:
                self.messages = [self.messages[0], *self.messages[-KEPT:]]

    async def _answer(self) -> tuple[list[dict[str, Any]], int]:
        """One streamed answer, put together from the SDK's own events; and the tokens of its request."""
        stream = await self.client.messages.create(
            model=self.job.llm,
            max_tokens=MAX_TOKENS,
            messages=self.messages,  # type: ignore[arg-type]  # plain JSON, which the SDK types as its own dicts
            tools=self.tools,  # type: ignore[arg-type]  # plain JSON, which the SDK types as its own dicts
            cache_control={"type": "ephemeral"},
            metadata={"user_id": f"r-bare0:{self.turns}"},
            stream=True,
        )
        blocks: list[dict[str, Any]] = []
        prompt = 0
        async for event in stream:
            match event.type:
                case "content_block_start":
                    blocks.append(event.content_block.model_dump(exclude_none=True) | {"raw": ""})
                case "content_block_delta":
                    _add(blocks[event.index], event.delta)
                case "message_delta":
                    prompt = self._count(event.usage)
        return [_whole(block) for block in blocks], prompt

    def _count(self, usage: Any) -> int:
        counted = Usage(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cache_read=usage.cache_read_input_tokens,
            cache_write=usage.cache_creation_input_tokens,
        )
        self.usage += counted
        self.longest = max(self.longest, counted.prompt)
        return counted.prompt

    def _result(self, call: dict[str, Any]) -> dict[str, Any]:
        text = (self.folder / call["input"]["path"]).read_text(encoding="utf-8")
        return {"type": "tool_result", "tool_use_id": call["id"], "content": text}


def _add(block: dict[str, Any], delta: Any) -> None:
    if delta.type == "text_delta":
        block["text"] += delta.text
    elif delta.type == "input_json_delta":
        block["raw"] += delta.partial_json


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    raw = block.pop("raw")
    return block | {"input": json.loads(raw)} if block["type"] == "tool_use" else block
