"""The demo: a shop that sold nine lamps of six. Real files, real tests, a real race; only the words are written."""

from __future__ import annotations

from ...script import Script, Step, played, shipped
from . import cure, look, proof, survey, suspects, telling
from .changes import WORKSPACE

GOAL = (
    "Our shop sold more lamps than it had: nine customers held six LMP-7 on 12 April (incident 2031). Find out why "
    "and mend it, so that no piece is ever promised twice, by any thread of any worker. The tests are red: python3 "
    "-m unittest must be green in the end, without changing the tests that exist. Write down in docs/ what it was."
)
_STEPS = (*look.STEPS, *survey.STEPS, *suspects.STEPS, *cure.STEPS, *proof.STEPS, *telling.STEPS)


def script() -> Script:
    closing = Step(
        says="The work is done and the tests are green. Tell me if there is something else about the shop."
    )
    return Script(
        name="orders",
        title="The shop that sold nine lamps of six",
        goal=GOAL,
        length=len(_STEPS),
        step=played(_STEPS, closing),
        lay_out=shipped(WORKSPACE),
    )
