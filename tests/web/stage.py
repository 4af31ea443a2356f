"""A run that a test moves while pages watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentdash.door import local
from runs.live import bell
from tests.living import In, LiveHouse, expect
from tests.present.conftest import READ, Scene, a_scene

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


class Stage:
    """A run that a test moves, and a page that watches it."""

    def __init__(self, house: LiveHouse) -> None:
        self.house = house
        self.scene = a_scene(local(), title="Invoices exported twice")
        self.scene.turns(12, READ, words="I read it.", thinking="What is there?")

    def open(self, query: str = "", **options: Any) -> In:
        page = self.house.page(f"/runs/{self.scene.run.slug}/{query}", **options)
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        expect(page.locator(".layer .edge.limit")).to_be_visible() if not options.get("is_mobile") else None
        return page

    def ring(self) -> None:
        bell.ring(self.scene.run.pk, self.scene.seq)

    def act(self, move: Callable[[Scene], Any]) -> None:
        move(self.scene)
        self.ring()
