"""A slow llm behind HTTP: the stand-in of `agentdash rehearse`, at a pace and with a script of the bench's own.

`python -m bench.scale.llm PORT SECONDS PIECES`: the first token comes after a second, an answer takes SECONDS and
arrives in PIECES. Every turn says as much and reads one file; a run never ends by itself.
"""

from __future__ import annotations

import sys
from itertools import cycle, islice

import uvicorn

from agentdash.server import bound
from runs.engine.llm.rehearsal import http, scripts, stream
from runs.engine.llm.rehearsal.script import Call, Script, Step
from runs.engine.llm.rehearsal.scripts import job

FIRST_S = 1.0
SIZE = 48
"""Characters a piece."""

OTHERS = 3
"""Pieces of an answer that are no text: the call's input, which begins with an empty one, and what is left over."""

FILES = 40
TEXT = "One more piece is read, and what it says is kept in mind. "


def script(pieces: int) -> Script:
    says = "".join(islice(cycle(TEXT), SIZE * (pieces - OTHERS)))

    def step(turn: int) -> Step:
        path = job.name_of((turn - 1) % FILES + 1)
        return Step(says=says, calls=(Call(name="read_file", input={"path": path}),))

    return Script(name="slow", title="Wait", goal="Wait.", length=1_000_000, step=step)


def pace(seconds: float, pieces: int) -> stream.Pace:
    return stream.Pace(first_s=FIRST_S, gap_s=(seconds - FIRST_S) / pieces, piece=SIZE)


def serve(port: int, seconds: float, pieces: int) -> None:
    stream.PACES["slow"] = pace(seconds, pieces)
    scripts._SCRIPTS["slow"] = lambda: script(pieces)
    config = uvicorn.Config(http.app(pace="slow", script="slow"), log_level="warning", backlog=2048)
    uvicorn.Server(config).run(sockets=[bound("127.0.0.1", port)])


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
