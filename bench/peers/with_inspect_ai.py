"""inspect-ai: its react agent with CompactionSummary at the mark."""

from __future__ import annotations

import tempfile

from inspect_ai import Task, eval
from inspect_ai.agent import AgentPrompt, react
from inspect_ai.dataset import Sample
from inspect_ai.model import CompactionSummary, GenerateConfig, get_model
from inspect_ai.tool import Tool, tool

from .child import LLM, MAX_TOKENS, SYSTEM, Errand, main


def do(errand: Errand) -> dict[str, object]:
    @tool
    def read_piece() -> Tool:
        async def execute(path: str) -> str:
            """Read a piece.

            Args:
                path: Where it lies.
            """
            return errand.read(path)

        return execute

    agent = react(
        prompt=AgentPrompt(instructions=SYSTEM, assistant_prompt=None, submit_prompt=None),
        tools=[read_piece()],
        submit=False,
        on_continue=None,
        compaction=CompactionSummary(threshold=errand.mark),
    )
    model = get_model(
        f"anthropic/{LLM}", base_url=errand.url, config=GenerateConfig(max_tokens=MAX_TOKENS, max_retries=2)
    )
    task = Task(dataset=[Sample(input=errand.goal)], solver=agent)
    log = eval(
        task, model=model, display="none", log_dir=tempfile.mkdtemp(prefix="inspect-"), log_level="error"
    )[0]
    found = log.error or (log.samples[0].error if log.samples else None)
    return {"state": f"error: {' '.join(found.message.split())[:160]}"} if found else {}


if __name__ == "__main__":
    main(do)
