"""Second part: two ideas that turn out to be wrong, and what they teach."""

from __future__ import annotations

from ...script import Step
from . import changes, texts
from .act import edit, needs, note, read, recall, run, search, settled, write

_RESERVATIONS = "orders/reservations.py"
_SEEN = needs("def reserve(self", read(_RESERVATIONS))

STEPS = (
    Step(
        thinks=(
            "Suspect 1 first, because it is cheap to rule out: if reserve() fails in the middle and is called again, "
            "does it leave something behind?"
        ),
        says="Suspect one is the retry: who uses it, and is it safe to call again?",
        calls=(search("when_busy", "."),),
    ),
    Step(
        says=(
            "Only `reserve`. I do not want to argue about it, I want to see it: a probe that lets each statement of "
            "`reserve` fail once, the way a busy database would, and then counts."
        ),
        calls=(write("probe_retry.py", texts.PROBE),),
    ),
    Step(
        says="One buyer, one lamp, each statement failing in turn.",
        calls=(run("python3 probe_retry.py"),),
        needs=needs("Does a retry hold twice?", read("probe_retry.py")),
    ),
    Step(
        thinks=(
            "However it fails, one buyer has one hold. So a retry does not give a lamp to a second customer. But "
            "when the insert fails, set_reserved has been committed already and is done again: sum 2, holds 1. "
            "That errs in the other direction: the shop sells too little. A bug of its own, though not this one."
        ),
        says=(
            "My first idea was wrong. A retry never gives a piece to a second customer. It shows another bug, though: "
            "if the last statement fails, the first one stays written and the sum says 2 where one is held."
        ),
        calls=(
            settled(
                3,
                "Wrong: a retry does not hold twice (probe_retry.py). The warnings in the log are a symptom.",
            ),
            note(
                "errors",
                "reserve() is not atomic: if insert_reservation fails, set_reserved stays written; after the retry "
                "the sum says 2 held for one hold. To be cured together with the race.",
            ),
        ),
    ),
    Step(
        says="Back to the races. One more look at exactly how they fail, one by one.",
        calls=(run("python3 -m unittest -v tests.test_race"),),
    ),
    Step(
        thinks=(
            "All four pass the check before anyone writes. The simplest remedy that comes to mind: a lock around "
            "reserve. Three small edits. If it holds, it is the smallest change; if not, I learn why."
        ),
        says=(
            "Plain check-then-act: both read 1, both write 1. Suspect two is the missing lock. The smallest change "
            "is a `threading.Lock` around the body of `reserve`; I try it."
        ),
        calls=(
            note("pending", "Suspect 2: reserve() needs a lock of its own (threading.Lock). Trying it."),
            read(_RESERVATIONS),
        ),
    ),
    Step(
        says="The lock itself.",
        calls=(
            edit(_RESERVATIONS, *changes.LOCK_IMPORT),
            edit(_RESERVATIONS, *changes.LOCK_INIT),
        ),
        needs=_SEEN,
    ),
    Step(
        says="And the body of `reserve` inside it.",
        calls=(edit(_RESERVATIONS, *changes.LOCK_BODY),),
        needs=_SEEN,
    ),
    Step(
        says="Does it hold?",
        calls=(run("python3 -m unittest tests.test_race"),),
    ),
    Step(
        thinks=(
            "The threads of one object are fine now, and slower: they wait for each other at the meeting point. Two "
            "workers are two processes; each has its own lock. Of course. And the sweepers are not touched at all. "
            "Rule R2 says 'from every worker's point of view', which I had read and not taken seriously."
        ),
        says=(
            "Half of it. The two tests with one shop object are green, `two_workers_share_one_shelf` is still red: a "
            "lock lives in one process, and there are two. My second idea was wrong as well."
        ),
        calls=(search("worker", "README.md"), search("worker", "docs/rules.md")),
    ),
    Step(
        says=(
            "There it stands: two worker processes, and R2 counts from every worker's point of view. What both "
            "share is the database, so the database has to decide. I keep that as a decision."
        ),
        calls=(
            settled(
                5,
                "Wrong: a lock in Python is not shared by two worker processes; test_two_workers stays red.",
            ),
            note(
                "decisions",
                "The database decides who gets a piece: one conditional UPDATE (… where on_hand - reserved >= ?) "
                "and a look at the number of changed rows. No read before the write, no lock in Python.",
            ),
        ),
    ),
    Step(
        says="First I take the lock out again, so that nothing of a wrong idea stays in the code.",
        calls=(
            edit(_RESERVATIONS, *reversed(changes.LOCK_BODY)),
            edit(_RESERVATIONS, *reversed(changes.LOCK_INIT)),
            edit(_RESERVATIONS, *reversed(changes.LOCK_IMPORT)),
        ),
        needs=needs("threading.Lock()", read(_RESERVATIONS)),
    ),
    Step(
        says="Back to where I was? It should be six red again, and no more.",
        calls=(run("python3 -m unittest 2>&1 | tail -n 5"), search("threading", "orders")),
    ),
    Step(
        thinks=(
            "There is an alternative: wrap reserve() in transaction(), which begins immediate. Correct, but then the "
            "write lock is held while we read, and every buyer queues behind every other one even for different "
            "products. One conditional statement is shorter and holds the lock for microseconds."
        ),
        says=(
            "Six, and no trace of the lock. Before I write the cure I check what the log said about timing, since the "
            "cure must not make buyers queue for long."
        ),
        calls=(recall("LMP-7 hold"),),
    ),
)
