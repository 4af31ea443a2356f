"""Three commands that take their time (`naps`: three seconds each; `naps-10`: ten), to be stopped in the middle."""

from __future__ import annotations

from functools import partial

from ..script import Call, Script, Step

TURNS = 4
"""The last of them only says that all is done."""

SECONDS = 3
LIST = "naps.txt"


def script(seconds: int = SECONDS) -> Script:
    return Script(
        name="naps" if seconds == SECONDS else f"naps-{seconds}",
        title="Take naps",
        goal=f"Take {TURNS - 1} naps of {seconds} s, one after the other, and write each into {LIST}.",
        length=TURNS,
        step=partial(_step, seconds),
    )


def _step(seconds: int, turn: int) -> Step:
    if turn >= TURNS:
        return Step(says=f"All naps are taken; {LIST} lists them.")
    nap = Call(name="run_command", input={"command": f"sleep {seconds}; echo nap-{turn} >> {LIST}"})
    return Step(says=f"Nap {turn}.", calls=(nap,), must=True)
