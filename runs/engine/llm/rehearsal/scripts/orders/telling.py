"""Last part: written down for those who come after, checked once more, said in a few words."""

from __future__ import annotations

from ...script import Step
from . import changes, texts
from .act import edit, needs, note, notes, read, recall, run, search, settled, write

STEPS = (
    Step(
        says=(
            "No test asks for it; it is a question for the owner, and it goes into the report as one. Now the "
            "telling. My notes first, so that I write what happened and not what I remember."
        ),
        calls=(notes(),),
    ),
    Step(
        says="And the moment of the first wrong idea, in its own words.",
        calls=(recall("database is locked attempt"),),
    ),
    Step(
        says="The rules name the incident; they should name its cause too.",
        calls=(read("docs/rules.md"),),
    ),
    Step(
        says=(
            "A report for the next person who is tempted by a lock: what happened, what it was not, what was changed, "
            "and how we know."
        ),
        calls=(write("docs/incident-2031.md", texts.REPORT),),
        needs=needs("never promise more than we have", read("docs/rules.md")),
    ),
    Step(
        says="The row in the table of incidents points to it.",
        calls=(edit("docs/rules.md", *changes.INCIDENT_ROW), search("2031", "docs")),
        needs=needs("| 2031 | 12 April |", read("docs/rules.md")),
    ),
    Step(
        says="The README says how it runs; it should also say how a piece is taken, since that is where it went wrong.",
        calls=(read("README.md"),),
    ),
    Step(
        says="Three lines are enough.",
        calls=(edit("README.md", *changes.README_LOCK),),
        needs=needs("There is no other lock than the database's own.", read("README.md")),
    ),
    Step(
        says="I close what is done in my notes.",
        calls=(
            settled(
                4, "Cured: reserve() runs in one transaction; tests/test_retry.py fails each statement once."
            ),
            settled(9, "Done: tests/test_retry.py and tests/test_settle.py."),
            note(
                "facts", "Written: docs/incident-2031.md, the row in docs/rules.md, a passage in README.md."
            ),
        ),
    ),
    Step(
        says="A last reading of the code that holds the promise, as somebody who sees it for the first time.",
        calls=(
            read("orders/reservations.py"),
            search("def (take|give_back|sell|settle|transaction)", "orders/store.py"),
        ),
    ),
    Step(
        says="It reads well: nobody writes what they have read. Does it all compile, and is nothing left lying about?",
        calls=(
            run("python3 -m compileall -q orders tests tools && echo compiled"),
            run("ls -R orders tests tools docs"),
        ),
    ),
    Step(
        says="The last run, with names.",
        calls=(run("python3 -m unittest -v 2>&1 | tail -n 40"),),
    ),
    Step(
        thinks="Green, with names. One more run of the hammer for the figures of the report, then I am done.",
        says="All of them, by name. And the load test's figure for the report.",
        calls=(run("python3 -m tools.hammer 16"),),
        mends="FAILED",
        mending=(
            "That is not what I left behind. I write the three changed files once more, as they have to be, and look "
            "again."
        ),
        mend=(
            *(write(path, changes.final(path)) for path in changes.CHANGED),
            run("python3 -m unittest 2>&1 | tail -n 4"),
            run("python3 -m tools.hammer 16"),
        ),
    ),
    Step(
        says=(
            "Done. The shop no longer promises a piece twice.\n\n**Cause.** `reserve` read how many pieces were "
            "free and wrote the new sum afterwards; threads and both workers did so at the same "
            "moment.\n\n**Cure.** One conditional statement takes a piece (`Store.take`), one ends a hold for "
            "exactly one caller (`Store.settle`); what belongs together stands in one transaction; a cart that "
            "fails halfway gives back what it held.\n\n**Shown by.** 30 tests green, six of them red before, four "
            "of them new; 16 rounds of the load test without a lamp too many; the new tests turn red when the "
            "condition is taken out.\n\n**Wrong on the way.** The retry was not the cause, and a lock in Python "
            "does not reach a second process. Both stand in `docs/incident-2031.md`, so that nobody needs to try "
            "them again."
        ),
    ),
)
