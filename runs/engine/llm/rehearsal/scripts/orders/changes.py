"""What the agent changes in the shop's code: passage by passage, and each file as it stands in the end."""

from __future__ import annotations

from functools import cache
from pathlib import Path

WORKSPACE = Path(__file__).with_name("workspace")

LOCK_INIT = (
    """        self.store = store
        self.clock = clock

    @when_busy""",
    """        self.store = store
        self.clock = clock
        self._lock = threading.Lock()

    @when_busy""",
)
LOCK_IMPORT = ("import logging\nimport time\n", "import logging\nimport threading\nimport time\n")
LOCK_BODY = (
    """        available = self.store.available(sku)
        if available < quantity:
            raise OutOfStock(sku, quantity, available)
        self.store.set_reserved(sku, self.store.reserved(sku) + quantity)
        number = self.store.insert_reservation(sku, quantity, customer, self.clock() + HOLD_SECONDS)
""",
    """        with self._lock:
            available = self.store.available(sku)
            if available < quantity:
                raise OutOfStock(sku, quantity, available)
            self.store.set_reserved(sku, self.store.reserved(sku) + quantity)
            number = self.store.insert_reservation(sku, quantity, customer, self.clock() + HOLD_SECONDS)
""",
)

STOCK = (
    """    def set_reserved(self, sku: str, reserved: int) -> None:
        self.execute("update stock set reserved = ? where sku = ?", reserved, sku)

    def set_on_hand(self, sku: str, on_hand: int) -> None:
        self.execute("update stock set on_hand = ? where sku = ?", on_hand, sku)
""",
    '''    def take(self, sku: str, quantity: int) -> bool:
        """Count pieces as held if that many are free. One statement: the database decides, nobody in between."""
        cursor = self.execute(
            "update stock set reserved = reserved + ? where sku = ? and on_hand - reserved >= ?",
            quantity,
            sku,
            quantity,
        )
        return cursor.rowcount == 1

    def give_back(self, sku: str, quantity: int) -> None:
        """Pieces that were held are free again."""
        self.execute("update stock set reserved = reserved - ? where sku = ?", quantity, sku)

    def sell(self, sku: str, quantity: int) -> None:
        """Pieces that were held leave the shelf."""
        self.execute(
            "update stock set on_hand = on_hand - ?, reserved = reserved - ? where sku = ?", quantity, quantity, sku
        )
''',
)
SETTLE = (
    """    def set_state(self, number: int, state: str) -> None:
        self.execute("update reservations set state = ? where id = ?", state, number)
""",
    '''    def settle(self, number: int, state: str, valid_at: float | None = None) -> bool:
        """End a hold, once: true for the one caller that did it. With `valid_at` only if it has not run out by then."""
        cursor = self.execute(
            "update reservations set state = ? where id = ? and state = 'held' and expires_at > ?",
            state,
            number,
            float("-inf") if valid_at is None else valid_at,
        )
        return cursor.rowcount == 1
''',
)
JOIN = (
    '''        """All or nothing. Takes the write lock at once, so it never has to give up in the middle."""
        self.execute("begin immediate")
''',
    '''        """All or nothing. Takes the write lock at once, so it never has to give up in the middle.

        Inside another transaction of this thread it becomes a part of that one.
        """
        if self.connection.in_transaction:
            yield
            return
        self.execute("begin immediate")
''',
)
COMMIT = (
    """            yield
        except BaseException:
            self.execute("rollback")
            raise
        self.execute("commit")
""",
    """            yield
            self.execute("commit")
        except BaseException:
            self.execute("rollback")
            raise
""",
)
RESERVE = (
    LOCK_BODY[0],
    """        with self.store.transaction():
            if not self.store.take(sku, quantity):
                raise OutOfStock(sku, quantity, self.store.on_hand(sku) - self.store.held(sku))
            number = self.store.insert_reservation(sku, quantity, customer, self.clock() + HOLD_SECONDS)
""",
)
CONFIRM = (
    """        hold = self._hold(number)
        if hold.state != "held":
            raise NotHeld(f"hold {number} is {hold.state}")
        self.store.set_on_hand(hold.sku, self.store.on_hand(hold.sku) - hold.quantity)
        self.store.set_reserved(hold.sku, self.store.reserved(hold.sku) - hold.quantity)
        self.store.set_state(number, "confirmed")
""",
    """        hold = self._hold(number)
        with self.store.transaction():
            if not self.store.settle(number, "confirmed", valid_at=self.clock()):
                raise NotHeld(f"hold {number} is {hold.state}, its time ends at {hold.expires_at}")
            self.store.sell(hold.sku, hold.quantity)
""",
)
RELEASE = (
    """        hold = self._hold(number)
        if hold.state != "held":
            return False
        self.store.set_reserved(hold.sku, self.store.reserved(hold.sku) - hold.quantity)
        self.store.set_state(number, "released")
        return True
""",
    """        hold = self._hold(number)
        with self.store.transaction():
            if not self.store.settle(number, "released"):
                return False
            self.store.give_back(hold.sku, hold.quantity)
        return True
""",
)
HOLD_ALL = (
    """        holds = []
        for sku, quantity in sorted(cart.items()):
            holds.append(self.reservations.reserve(sku, quantity, customer))
        return holds
""",
    """        holds: list[int] = []
        try:
            for sku, quantity in sorted(cart.items()):
                holds.append(self.reservations.reserve(sku, quantity, customer))
        except BaseException:
            self._release_all(holds)
            raise
        return holds
""",
)
ONLY_HELD = (
    " and state = 'held' and expires_at > ?\",\n            state,",
    ' and expires_at > ?",\n            state,',
)
"""Taken out for a moment, to see that the tests notice."""

INCIDENT_ROW = (
    "3 orders had to be cancelled by phone | R2, perhaps R4 |",
    "3 orders had to be cancelled by phone. Cause and cure: `docs/incident-2031.md` | R2, R3, R4, R5 |",
)
README_LOCK = (
    "There is no other lock than the database's own.\n",
    """There is no other lock than the database's own,
so whether a piece is free is never read first and written later: `Store.take` asks and takes in one statement, and
`Store.settle` ends a hold for exactly one caller. Look at the count of changed rows; that is the answer.
""",
)

_FINAL = {
    "orders/store.py": (STOCK, SETTLE, JOIN, COMMIT),
    "orders/reservations.py": (RESERVE, CONFIRM, RELEASE),
    "orders/checkout.py": (HOLD_ALL,),
}
CHANGED = tuple(_FINAL)


def original(path: str) -> str:
    """A file of the workspace as the script lays it out."""
    return (WORKSPACE / f"{path}.txt").read_text(encoding="utf-8")


@cache
def final(path: str) -> str:
    """A changed file as it stands when everything is done."""
    text = original(path)
    for old, new in _FINAL[path]:
        text = text.replace(old, new)
    return text
