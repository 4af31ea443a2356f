"""Messages that overtake each other, come twice or leave a gap: the page shows each event once, in order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.models import Run
from tests.conftest import wait_until
from tests.living import LiveHouse

from .test_page_module import Happen, Watched, happen, run

__all__ = ["happen", "run"]
ORDERS = {
    "two change places": [0, 1, 3, 2, 2, 4],
    "the last comes first": [4, 0, 1, 2, 3],
    "everything comes twice": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
    "backwards": [4, 3, 2, 1, 0],
}


class Shuffled(Watched):
    """The line holds back five events and hands them over one by one, in an order of its own."""

    order: tuple[int, ...] = ()

    def _between(self, line: Any) -> None:
        server = line.connect_to_server()
        held: list[Any] = []

        def down(message: str) -> None:
            items = json.loads(message).get("items")
            if not items or not self.order:
                line.send(message)
                return
            held.extend(items)
            if len(held) < 5:
                return
            order, self.order = self.order, ()
            for at in order:
                line.send(json.dumps({"t": "events", "items": [held[at]]}))

        line.on_message(server.send)
        server.on_message(down)


@pytest.mark.parametrize("how", ORDERS)
def test_each_event_is_shown_once_and_in_order(
    live_house: LiveHouse, run: Run, happen: Happen, how: str
) -> None:
    page = Shuffled(live_house, run)
    page.live()
    page.order = tuple(ORDERS[how])
    seqs = happen(5)
    wait_until(lambda: len(page.read("heard")) >= 5, what="five events")
    assert page.read("heard") == seqs
