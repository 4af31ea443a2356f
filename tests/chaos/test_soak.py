"""A long run that is watched all the time: what its processes hold does not grow with it (A15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentdash import door
from tests.conftest import wait_until

from .conftest import Report
from .house import House, Process, Scaled, size
from .viewer import Browser, Viewer

TURNS = size(400, 2000)
WARM = 200
"""Turns after which everything that is loaded once has been loaded."""

EVERY = 20
VIEWERS = 4
MOST_GROWTH_MB = 20
MB = 1 << 20
ASKED = ("--policy", "demo", "--pace", "fast", "--max-turns", str(2 * TURNS), "--max-usd", "1000")


@dataclass(slots=True)
class Held:
    """What a process holds, read again and again: resident bytes, open files."""

    process: Process
    sizes: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def look(self) -> None:
        here = Path("/proc", str(self.process.pid))
        status = (here / "status").read_text().split()
        self.sizes.append(int(status[status.index("VmRSS:") + 1]) * 1024)
        self.files.append(len(list((here / "fd").iterdir())))

    @property
    def grown(self) -> float:
        """MB between the first look and the largest since."""
        return round((max(self.sizes) - self.sizes[0]) / MB, 1)

    @property
    def more_files(self) -> int:
        """The most in the second half of all looks against the most in the first: what comes and goes is no growth."""
        half = len(self.files) // 2
        return max(self.files[half:]) - max(self.files[:half])


def test_a_long_run_that_is_watched_costs_no_more_at_its_end(either: House, report: Report) -> None:
    held = served(either)
    slug = either.ask("run", "Read", "--llm", f"rehearsal/job-{TURNS}", *ASKED)["run"]
    browser = Browser(either)
    browser.enter(door.link(either.home, browser.address))
    viewers = [Viewer(browser, slug).start() for _ in range(VIEWERS)]
    for turn in range(WARM, TURNS + 1, EVERY):
        wait_until(lambda at=turn: reached(either, at), 120, lambda: str(standing(either)))
        for one in held.values():
            one.look()
    wait_until(lambda: standing(either)[0] == "done", 120, lambda: str(standing(either)))
    last = either.one("SELECT next_seq - 1 FROM runs_run")
    wait_until(lambda: all(viewer.last >= last for viewer in viewers), 30, "the viewers to see the end")
    figure = {
        "turns": TURNS,
        "viewers": VIEWERS,
        "rss_growth_mb": {name: one.grown for name, one in held.items()},
        "rss_mb": {name: one.sizes[-1] // MB for name, one in held.items()},
        "files": {name: f"{one.files[0]} to {one.files[-1]}" for name, one in held.items()},
        "events": last,
    }
    for viewer in viewers:
        viewer.stop()
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A15-{shape}", figure, [*of_held(held), *of_viewers(viewers, last)])


def served(house: House) -> dict[str, Held]:
    """The processes that serve it, by what they do."""
    if isinstance(house, Scaled):
        return {"worker": Held(house.worker(8)), "web": Held(house.web())}
    return {"process": Held(house.start())}


def reached(house: House, turn: int) -> bool:
    return int(house.one("SELECT turn_no FROM runs_run")) >= turn or standing(house)[0] != "running"


def standing(house: House) -> Sequence[str]:
    return house.rows("SELECT state, reason, turn_no FROM runs_run")[0]


def of_held(held: Mapping[str, Held]) -> Iterator[str]:
    for name, one in held.items():
        if one.grown >= MOST_GROWTH_MB:
            yield f"the {name} grew by {one.grown} MB: {[size // MB for size in one.sizes]}"
        if one.more_files > 0:
            yield f"the {name} holds {one.more_files} files more: {one.files}"


def of_viewers(viewers: Sequence[Viewer], last: int) -> Iterator[str]:
    for number, viewer in enumerate(viewers, 1):
        yield from (f"viewer {number}: {wrong}" for wrong in viewer.missing(last))
