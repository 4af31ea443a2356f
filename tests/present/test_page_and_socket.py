"""A page that is drawn while the run goes on: what it shows and what the socket brings meet without overlap or gap."""

from __future__ import annotations

from runs.models import Event
from runs.present import run as run_page
from runs.present import socket
from runs.present.now import Now
from tests.present.conftest import READ, Scene


def test_what_happens_while_a_page_is_drawn_is_left_to_the_socket(scene: Scene) -> None:
    """The page says that it shows the run as of event N: so no row of a later event stands on it."""
    scene.turns(1, READ)
    read = scene.fresh
    scene.turns(1, READ, words="Later.")
    page = run_page.page(read, None, "window")
    later = Event.objects.filter(run=read, seq__gt=page["seq"])
    brought = "".join(item.get("html", "") for item in socket.items(Now(run=scene.fresh), list(later)))
    assert [row.turn for row in page["page"].rows if row.kind == "text"] == [1]
    assert all(f'id="{row.id}"' not in brought or row.kind == "call" for row in page["page"].rows)
    assert "Later." in brought


def test_a_snapshot_shows_nothing_after_its_own_number(scene: Scene) -> None:
    scene.turns(1, READ)
    read = scene.fresh
    scene.turns(1, READ, words="Later.")
    assert "Later." not in socket.snapshot(Now(run=read))
