"""A hundred turns (`errands-20`: twenty) of errands that must not be done twice: each adds a line of its own to a list.

For killing the process in the middle, and for counting afterwards. After an errand whose outcome is unknown the
list is read; the errand itself is left as it is.
"""

from __future__ import annotations

from functools import partial

from ..script import Call, Script, Step

TURNS = 100
"""The last of them only says that all is done."""

LIST = "done.txt"
_EVERY = 10
_LOOK = Call(name="read_file", input={"path": LIST})


def line_of(turn: int) -> str:
    """What the errand of a turn writes."""
    return f"errand-{turn}"


def script(turns: int = TURNS) -> Script:
    return Script(
        name="errands" if turns == TURNS else f"errands-{turns}",
        title="Run errands",
        goal=f"Run {turns - 1} errands, each exactly once, and keep the list of them in {LIST}.",
        length=turns,
        step=partial(_step, turns),
    )


def _step(turns: int, turn: int) -> Step:
    if turn >= turns:
        return Step(says=f"All errands are run; {LIST} lists them.")
    errand = Call(name="run_command", input={"command": f"echo {line_of(turn)} >> {LIST}"})
    return Step(
        says=f"Errand {turn}.",
        calls=(errand, _LOOK) if turn % _EVERY == 0 else (errand,),
        must=True,
        mends="Outcome unknown",
        mend=(_LOOK, errand),
        mending=f"I do not know how the last errand ended, so I look at {LIST} before I go on with errand {turn}.",
    )
