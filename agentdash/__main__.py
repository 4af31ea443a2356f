"""`python -m agentdash` is `agentdash`."""

from __future__ import annotations

from agentdash.cli import main

main()
