"""deepagents with its defaults: summaries at 85 % of the window, 10 % kept, the rest offloaded to its files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool

from .child import LLM, MAX_TOKENS, SYSTEM, Errand, main


def do(errand: Errand) -> dict[str, object]:
    @tool
    def read_piece(path: str) -> str:
        """Read a piece."""
        return errand.read(path)

    own = Path(tempfile.mkdtemp(prefix="deepagents-"))
    model = ChatAnthropic(
        model_name=LLM,
        max_tokens=MAX_TOKENS,
        base_url=errand.url,
        profile={"max_input_tokens": errand.context},
    )
    agent = create_deep_agent(
        model=model,
        tools=[read_piece],
        system_prompt=SYSTEM,
        backend=FilesystemBackend(root_dir=own, virtual_mode=True),
    )
    try:
        agent.invoke({"messages": [("user", errand.goal)]}, {"recursion_limit": 20 * errand.most_calls})
    except Exception as error:
        return {"state": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}", "files": str(own)}
    return {"files": str(own)}


if __name__ == "__main__":
    main(do)
