"""Between the first look and the first idea: the rest of the package, so that no suspect is overlooked."""

from __future__ import annotations

from ...script import Step
from .act import read, run, search

STEPS = (
    Step(
        thinks=(
            "The hammer reproduces it without any meeting of threads. Good: a cure can be measured. Before I suspect "
            "anything I want to have seen the whole package once; it is small, and the guilty line is often next door."
        ),
        says=(
            "It goes wrong round after round, with a connection per buyer as the workers have it: a measure I can "
            "trust. Before I suspect anything I read the rest of the package. First what already passes: the tests "
            "for one customer after the other."
        ),
        calls=(read("tests/test_reservations.py"), read("tests/test_checkout.py")),
    ),
    Step(
        says=(
            "They cover every rule, only never two customers at the same moment. Next the modules around a hold: who "
            "is charged when, and what is written."
        ),
        calls=(read("orders/payments.py"), read("orders/outbox.py"), read("orders/reports.py")),
    ),
    Step(
        says=(
            "`discrepancies` compares the sum in `stock` with the holds themselves: that is the line the log ends "
            "with. Now prices and amounts, with their tests."
        ),
        calls=(read("orders/catalog.py"), read("orders/money.py"), read("tests/test_money.py")),
    ),
    Step(
        says="Nothing suspicious there: whole cents, no shared state. Which places write the stock at all?",
        calls=(search("set_reserved|set_on_hand", "orders"),),
    ),
    Step(
        says="Five places, all of the kind 'write what I have read'. And who else keeps state between threads?",
        calls=(
            search("threading", "orders"),
            run("python3 -c 'import sqlite3; print(sqlite3.sqlite_version)'"),
        ),
    ),
)
