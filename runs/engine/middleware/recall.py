"""Recall: the agent searches its own past; what left the window is one call away."""

from __future__ import annotations

from collections.abc import Sequence

from ..policy.model import smaller
from ..ports import Tool
from ..tools.recall import ReadArchive
from ..tools.recall import Recall as RecallTool
from .base import Technique


class Recall(Technique):
    """Full text over the archive, episodes included; markers and head name the two tools."""

    name = "recall"

    def tools(self) -> Sequence[Tool]:
        policy = self.desk.policy.recall
        budget = smaller(policy.tokens, policy.share, self.desk.limit)
        return (RecallTool(k=policy.k, tokens=budget), ReadArchive(tokens=budget))

    def prompt(self) -> str:
        return "What is no longer in view is in the archive: recall(query) finds it, read_archive(turn) shows it whole."
