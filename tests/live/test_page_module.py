"""static/js/live.js in a browser: a run's page shows what happens, in order, nothing twice, whatever the line does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentdash.door import local
from runs.engine.events import Delta, Recalled
from runs.live import bell
from runs.models import Run
from runs.store import archive, lease
from tests.builders import a_run
from tests.conftest import wait_until
from tests.living import In, LiveHouse

NOTE = """
addEventListener("DOMContentLoaded", () => {
  window.heard = []; window.states = []; window.typed = []; window.drawn = [];
  document.addEventListener("agentdash:events", (e) => window.heard.push(...e.detail.map((item) => item.seq)));
  document.addEventListener("agentdash:live", (e) => window.states.push(e.detail));
  document.addEventListener("agentdash:delta", (e) => window.typed.push(e.detail.text));
  document.addEventListener("agentdash:snapshot", (e) => window.drawn.push(e.detail.seq));
})"""


class Watched:
    """A run's page in a browser, and the line between page and server, which the test may cut or hold."""

    def __init__(self, house: LiveHouse, run: Run) -> None:
        self.lines: list[Any] = []
        self.greetings: list[int] = []
        self.swallow = 0
        context = house.context()
        context.add_init_script(NOTE)
        self.page = context.new_page()
        self.page.route_web_socket(lambda url: "/ws/runs/" in url, self._between)
        self.page.goto(f"{house.address}/runs/{run.slug}/")

    def _between(self, line: Any) -> None:
        """In the browser's thread: everything passes, but for messages the test wants lost."""
        server = line.connect_to_server()
        self.lines.append(line)

        def up(message: str) -> None:
            said = json.loads(message)
            if said["t"] == "hello":
                self.greetings.append(said["seq"])
            server.send(message)

        def down(message: str) -> None:
            if self.swallow and json.loads(message).get("items"):
                self.swallow -= 1
                return
            line.send(message)

        line.on_message(up)
        server.on_message(down)

    def cut(self) -> None:
        self.page._do(lambda: self.lines[-1].close(code=1012))

    def read(self, name: str) -> Any:
        return self.page.evaluate(f"window.{name}")

    def lost(self) -> bool:
        """Whether all is lost that was to be lost. Messages pass only while the browser is asked something."""
        return self.read("heard") is not None and self.swallow == 0

    def live(self, times: int = 1) -> None:
        def said() -> bool:
            return [one["state"] for one in self.read("states")].count("live") >= times

        wait_until(said, what="the page to be live")


@pytest.fixture
def run(db: None) -> Run:
    return a_run(local(), turns=6, state="done", order="")


@pytest.fixture
def happen(run: Run) -> Callable[[int], list[int]]:
    """So many events, each with its bell. Returns their numbers."""

    claim = lease.claim(run.pk, "test", any_state=True)
    assert claim is not None

    def write(count: int = 1) -> list[int]:
        seqs = []
        for _ in range(count):
            seqs.append(archive.append(claim, Recalled(turn=6, query="x", hits=0)))
            bell.ring(run.pk, seqs[-1])
        return seqs

    return write


@pytest.fixture
def watched(live_house: LiveHouse, run: Run, happen: Callable[[int], list[int]]) -> Watched:
    page = Watched(live_house, run)
    page.live()
    return page


Happen = Callable[[int], list[int]]


def test_the_page_greets_with_the_event_it_was_drawn_at(watched: Watched, run: Run) -> None:
    run.refresh_from_db()
    assert watched.greetings == [run.next_seq - 1]


def test_what_happens_reaches_the_page(watched: Watched, happen: Happen) -> None:
    seqs = happen(3)
    wait_until(lambda: watched.read("heard") == seqs, what="three events")
    assert watched.page.get_attribute("#run", "data-seq") == str(seqs[-1])


def test_a_cut_line_comes_back_and_brings_what_was_missed_once(watched: Watched, happen: Happen) -> None:
    before = happen(2)
    wait_until(lambda: watched.read("heard") == before)
    watched.cut()
    missed = happen(5)
    watched.live(times=2)
    assert watched.read("heard") == before + missed
    states = watched.read("states")
    assert [one["state"] for one in states] == ["live", "reconnecting", "live"]
    assert states[-1]["missed"] == 5


def test_a_message_lost_on_the_way_is_asked_for_again(watched: Watched, happen: Happen) -> None:
    watched.swallow = 1
    lost = happen(1)
    wait_until(watched.lost, what="the loss")
    later = happen(1)
    wait_until(lambda: watched.read("heard") == lost + later, what="both events, in order")


def test_after_a_long_absence_the_page_is_drawn_anew_without_a_reload(
    watched: Watched, happen: Happen
) -> None:
    watched.page.evaluate("window.sameDocument = true")
    watched.page.context.set_offline(True)
    watched.cut()
    last = happen(520)[-1]
    watched.page.context.set_offline(False)
    watched.live(times=2)
    assert watched.read("drawn") == [last]
    assert watched.read("sameDocument") is True
    after = happen(1)
    wait_until(lambda: watched.read("heard") == after, what="the next event")
    ids = watched.page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids))


def test_typing_is_passed_on_until_its_turn_has_landed(watched: Watched, run: Run) -> None:
    bell.type(run.pk, Delta(turn=99, block=0, offset=0, text="typing"))
    wait_until(lambda: "".join(watched.read("typed")) == "typing", what="the letters")


def test_a_logged_out_page_says_so_and_stops_asking(
    live_house: LiveHouse, run: Run, watched: Watched
) -> None:
    watched.page.context.clear_cookies()
    watched.cut()

    def said() -> In:
        return watched.read("states")[-1]["why"]

    wait_until(lambda: said() == "logged out", what="the page to notice")
