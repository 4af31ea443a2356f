"""The long job: every piece is 1,500 tokens exactly, half of the facts are keyed, half are prose."""

from __future__ import annotations

from pathlib import Path

from runs.engine.llm.rehearsal import count, scripts
from runs.engine.llm.rehearsal.scripts import job
from runs.engine.ports import Cancel, ToolContext
from runs.engine.tools import standard

from .playing import Remembering, play


def test_twenty_facts_lie_in_three_hundred_turns() -> None:
    facts = job.facts()
    assert [fact.turn for fact in facts] == list(range(5, 291, 15))
    assert len({fact.text for fact in facts}) == 20
    assert sum(fact.keyed for fact in facts) == 10


def test_every_piece_is_exactly_as_long_as_it_is_read(tmp_path: Path) -> None:
    scripts.get("job-25").make_workspace(tmp_path)
    read = next(tool for tool in standard() if tool.name == "read_file")
    context = ToolContext.__new__(ToolContext)
    object.__setattr__(context, "workspace", tmp_path)
    object.__setattr__(context, "cancel", Cancel())
    object.__setattr__(context, "page_tokens", 0)
    for turn in range(1, 26):
        result = read.run(read.Input(path=job.name_of(turn)), context)
        assert isinstance(result.content, str)
        assert count.text(result.content) == job.TOKENS


def test_it_has_the_length_it_is_asked_for() -> None:
    assert scripts.get("job").length == 300
    assert scripts.get("job-60").length == 60
    assert not scripts.known("job-0")


def test_its_facts_are_in_the_last_request_whoever_summarised(tmp_path: Path) -> None:
    """Keyed facts stay in the ledger, those in prose in the summary: the rehearsal's own keeps them."""
    played = play("job-60", tmp_path, Remembering(), policy="default", limit=30_000)
    assert played.turns == 61
    assert played.edits["compact"] >= 1
    assert [fact.text for fact in job.facts(60) if fact.text not in played.last_request] == []
