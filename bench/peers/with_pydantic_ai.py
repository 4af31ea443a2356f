"""pydantic-ai: an Agent with its AnthropicCompaction at the mark, caching on."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicCompaction, AnthropicModel, AnthropicModelSettings
from pydantic_ai.usage import UsageLimits

from .child import LLM, MAX_TOKENS, SYSTEM, Errand, main


def do(errand: Errand) -> None:
    agent = Agent(
        AnthropicModel(LLM),
        instructions=SYSTEM,
        model_settings=AnthropicModelSettings(max_tokens=MAX_TOKENS, anthropic_cache=True),
        capabilities=[AnthropicCompaction(token_threshold=errand.mark)],
    )

    @agent.tool_plain
    def read_piece(path: str) -> str:
        """Read a piece."""
        return errand.read(path)

    agent.run_sync(errand.goal, usage_limits=UsageLimits(request_limit=errand.most_calls))


if __name__ == "__main__":
    main(do)
