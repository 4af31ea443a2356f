"""First part: what is there, what is red, what the log says."""

from __future__ import annotations

from ...script import Step
from .act import look, note, read, run, search

STEPS = (
    Step(
        thinks=(
            "A shop that sold more lamps than it has. Before I believe any story about it I want three things: what "
            "the code promises, what the tests say today, and what the log of that night says. First the layout."
        ),
        says="I start by looking at what is there.",
        calls=(look(),),
    ),
    Step(
        says=(
            "A small package with tests, rules and a log of the incident. The README and the rules come first: they "
            "say what the code is supposed to promise."
        ),
        calls=(read("README.md"), read("docs/rules.md")),
    ),
    Step(
        says=(
            "R2 is the rule in question: never promise more than there is, seen from every worker. Two processes, "
            "eight threads each, one SQLite file. Let me see whether there is a make target for the tests."
        ),
        calls=(run("make test"),),
    ),
    Step(
        says="No Makefile, so it is the command from the README.",
        calls=(run("python3 -m unittest"),),
    ),
    Step(
        thinks=(
            "Six red of 26. Four are about simultaneous access, one about a cart that fails halfway, one about a hold "
            "that has run out. They may share a cause or not; I should not assume that they do."
        ),
        says=(
            "Six tests are red, and they fall into three groups: four races, one cart that is not all-or-nothing, one "
            "expired hold that can still be confirmed. I write that down before I go on."
        ),
        calls=(
            note(
                "facts",
                "At the start: python3 -m unittest runs 26 tests, 6 red: four in tests/test_race.py, "
                "test_an_order_is_all_or_nothing, test_a_hold_that_has_run_out_cannot_be_confirmed. No Makefile.",
            ),
        ),
    ),
    Step(
        says="Now the red tests themselves, and how they make threads meet.",
        calls=(read("tests/test_race.py"), read("tests/support.py")),
    ),
    Step(
        says=(
            "These tests are honest: `meet_after` makes all threads read before one of them writes, so nothing is "
            "left to chance. They hook `available`, `reserved` and `reservation` of the store. So, the store."
        ),
        calls=(read("orders/store.py"),),
    ),
    Step(
        says=(
            "All SQL in one place, autocommit by default, and a `transaction()` that takes the write lock at once. "
            "The question is who uses it."
        ),
        calls=(read("orders/reservations.py"),),
    ),
    Step(
        thinks=(
            "reserve() reads available, then reads reserved, then writes reserved, then inserts: four statements, "
            "each its own transaction. There is the obvious gap. But it is wrapped in when_busy, which calls "
            "everything again; the log will tell which of the two actually bit."
        ),
        says=(
            "`reserve` reads, then writes, outside of any transaction. It is wrapped in a retry, too. Both could "
            "promise a lamp twice, each in its own way. I look at the retry and at who calls all this."
        ),
        calls=(read("orders/retry.py"), read("orders/checkout.py")),
    ),
    Step(
        says="Now the log of the night.",
        calls=(run("cat logs/incident-2031.log"),),
    ),
    Step(
        says="Long. I only want the holds on the lamp.",
        calls=(search(r"hold \d+: \d+ x LMP-7", "logs"),),
    ),
    Step(
        thinks=(
            "Nine holds in four groups: 24.339/.341, 50.041/.043/.045, 11.047/.049, 36.876/.878. Always "
            "milliseconds apart, always different threads; in three of the four groups both workers take part."
        ),
        says=(
            "Nine holds in four groups, within each group a few milliseconds apart and from different threads. "
            "What came right before them? I look for the retries, and for what was reported as an error."
        ),
        calls=(search("database is locked", "logs"), search("ERROR", "logs")),
    ),
    Step(
        says=(
            "A retry just before the second and the third group. That is suspicious, and the sum is off as well: the "
            "stock says 4 held, the holds say 9. I note both."
        ),
        calls=(
            note(
                "facts",
                "Log of incident 2031: 9 holds on LMP-7 (6 on hand) in four groups at 21:04:24, 21:04:50, 21:05:11, "
                "21:05:36, each group within 2-4 ms, different threads, also different workers. Stock said 4 held.",
            ),
            note("pending", "Suspect 1: when_busy repeats a reservation that was already written."),
        ),
    ),
    Step(
        says="How bad is it without any tricks? The load test should show it; I read along what it counts.",
        calls=(run("python3 -m tools.hammer 6"), read("tools/hammer.py")),
    ),
)
