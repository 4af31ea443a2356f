"""The SDK's own tool runner; on-demand compaction is asked for at the mark, as its documentation shows."""

from __future__ import annotations

from anthropic import Anthropic, beta_tool

from .child import LLM, MAX_TOKENS, SYSTEM, Errand, main


def do(errand: Errand) -> None:
    @beta_tool
    def read_piece(path: str) -> str:
        """Read a piece.

        Args:
            path: Where it lies.
        """
        return errand.read(path)

    client = Anthropic(max_retries=1)
    runner = client.beta.messages.tool_runner(
        model=LLM,
        max_tokens=MAX_TOKENS,
        system=SYSTEM,
        tools=[read_piece],
        messages=[{"role": "user", "content": errand.goal}],
        cache_control={"type": "ephemeral"},
        betas=["compact-2026-09-04"],
        thread=False,
        max_iterations=errand.most_calls,
    )
    for message in runner:
        usage = message.usage
        prompt = (
            usage.input_tokens
            + (usage.cache_creation_input_tokens or 0)
            + (usage.cache_read_input_tokens or 0)
        )
        if message.stop_reason == "tool_use" and prompt > errand.mark:
            runner.compact_before_next_turn()


if __name__ == "__main__":
    main(do)
