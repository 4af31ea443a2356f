"""An answer that max_tokens cut off in a call: asked for once more with room for twice as much, all of it archived."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runs.engine.messages import sha256
from runs.models import Call, Run, Turn
from runs.store import requests, windows
from runs.store.verify import verify

from .conftest import Walk

Begin = Callable[..., Run]


def test_it_is_asked_for_with_twice_the_tokens_and_the_next_turn_as_ever(
    begin: Begin, walk: Walk, tmp_path: Path
) -> None:
    policy = tmp_path / "small.toml"
    policy.write_text("[window]\nreserve = 2000\n")
    run = walk(begin("rehearsal/hello+max_tokens@1", policy=str(policy)))
    assert run.state == "done"
    turns = list(Turn.objects.filter(run=run).order_by("number", "attempt"))
    assert [(turn.number, turn.status) for turn in turns] == [
        (1, "lost"),
        (1, "closed"),
        (2, "closed"),
        (3, "closed"),
    ]
    rooms = [windows.frame(turn.frame_id).params["request"]["max_tokens"] for turn in turns]
    assert rooms == [2000, 4000, 2000, 2000]
    assert Call.objects.filter(run=run, turn=1).count() == 1
    assert [sha256(requests.body(run, number)) for number in (1, 2, 3)] == [
        t.request_sha256 for t in turns[1:]
    ]
    assert verify(run).ok


def test_a_request_that_is_refused_can_be_looked_at(begin: Begin, walk: Walk) -> None:
    run = walk(begin("rehearsal/hello+400:9@2"))
    assert run.state == "failed"
    assert "mistake of agentdash" in run.reason
    lost = Turn.objects.get(run=run, number=2)
    assert sha256(requests.body(run, 2)) == lost.request_sha256
