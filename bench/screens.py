"""Pictures of every page and state, dark and light, desktop and phone: `python -m bench.screens` (make screens).

A house of its own, in a folder that is thrown away: a real rehearsal run from first turn to last, one that is still
at work, and runs in every state. Ends with 1 when a page threw, was refused something by the content security
policy, or is wider than its screen.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.models import Run

OUT = Path("build/screens")
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LOOKS = [
    (f"{device}-{theme}", theme, size)
    for device, size in (("desktop", DESKTOP), ("phone", PHONE))
    for theme in ("dark", "light")
]
CHROMIUMS = ("chromium", "google-chrome", "google-chrome-stable")
FOREIGN = ("AGENTDASH_", "ANTHROPIC_", "REDIS_URL", "DATABASE_URL")
OVER = ("done", "failed", "stopped")
SETTLE_MS = 350
LISTEN = """addEventListener("securitypolicyviolation", (e) =>
  console.error(`refused by policy: ${e.violatedDirective} ${e.blockedURI}`))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A page to picture. `click`: what to press first. `whole`: all of it, not only what fits the screen."""

    name: str
    path: str
    click: str = ""
    status: int = 200


@dataclass
class Album:
    """Takes the pictures and remembers what went wrong."""

    browser: Any
    address: str
    cookie: dict[str, str]
    troubles: list[str] = field(default_factory=list)
    taken: int = 0

    def take(self, shots: Sequence[Shot], looks: Sequence[tuple[str, str, dict[str, int]]]) -> None:
        for look, theme, size in looks:
            context = self.browser.new_context(viewport=size, color_scheme=theme, has_touch=size is PHONE)
            context.add_cookies([self.cookie] if self.cookie else [])
            context.add_init_script(LISTEN)
            for shot in shots:
                self._one(context.new_page(), shot, look, full=size is PHONE)
            context.close()

    def _one(self, page: Any, shot: Shot, look: str, *, full: bool) -> None:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        answer = page.goto(self.address + shot.path)
        if shot.click:
            page.click(shot.click)
        page.wait_for_timeout(SETTLE_MS)
        page.screenshot(path=OUT / f"{shot.name}-{look}.png", full_page=full and not shot.click)
        self.taken += 1
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        said = [line for line in said if shot.status == 200 or "Failed to load resource" not in line]
        said += [f"{wide} px wider than its screen"] if wide > 0 else []
        said += [f"answers {answer.status}"] if answer.status != shot.status else []
        self.troubles += [f"{shot.name}-{look}: {line}" for line in said]
        page.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.screens", description=__doc__)
    parser.add_argument("only", nargs="*", help="names of pictures; all of them without any")
    only = parser.parse_args().only
    shutil.rmtree(OUT, ignore_errors=True) if not only else None
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="agentdash-screens-") as home:
        _set_up(Path(home))
        from agentdash.embedded import running

        with running() as address, _browser() as browser:
            album = Album(browser=browser, address=address, cookie={})
            _picture(album, set(only))
    for trouble in album.troubles:
        print(trouble, file=sys.stderr)
    print(f"{album.taken} pictures in {OUT}, {len(album.troubles)} troubles")
    return 1 if album.troubles else 0


def _picture(album: Album, only: set[str]) -> None:
    def take(shots: Sequence[Shot]) -> None:
        album.take([shot for shot in shots if not only or shot.name in only], LOOKS)

    take([Shot(name="login", path="/login"), Shot(name="login-spent", path="/login?token=spent", status=403)])
    album.cookie = _session(album.address)
    take([Shot(name="fleet-empty", path="/"), Shot(name="search-empty", path="/search/")])
    done = _rehearsed()
    live = _started("human")
    others = _others()
    take(_of_runs(live, done, others))
    take(_of_edits(done, others["failed"]))
    take(_everywhere(live))
    _stopped(live)


def _of_runs(live: Run, done: Run, others: dict[str, Run]) -> list[Shot]:
    page, past = f"/runs/{live.slug}/", done.turn_no // 2
    tabs = [
        Shot(name=f"run-{tab}", path=f"/runs/{done.slug}/?tab={tab}")
        for tab in ("window", "notes", "episodes", "policy", "log")
    ]
    states = [Shot(name=f"run-{state}", path=f"/runs/{run.slug}/") for state, run in others.items()]
    archive, window = f"/runs/{done.slug}/archive/", f"/runs/{done.slug}/window/"
    return [
        Shot(name="run-live", path=page),
        Shot(name="run-past", path=f"/runs/{done.slug}/?turn={past}"),
        *tabs,
        *states,
        Shot(name="compact-dialog", path=page, click="[data-dialog=compact]"),
        Shot(name="clear-dialog", path=page, click="[data-dialog=clear]"),
        Shot(name="archive", path=archive),
        Shot(name="archive-search", path=f"{archive}?q=lock"),
        Shot(name="archive-no-hit", path=f"{archive}?q=quetzalcoatl"),
        Shot(name="model-view", path=f"{window}?turn={past}"),
        Shot(name="model-view-json", path=f"{window}?turn={past}&as=json"),
    ]


def _of_edits(done: Run, failed: Run) -> list[Shot]:
    from runs.models import Edit

    found = {edit.kind: edit for edit in Edit.objects.filter(run=done).order_by("number")}
    shots = [
        Shot(name=f"edit-{kind.replace('_', '-')}", path=f"/runs/{done.slug}/compactions/{edit.number}/")
        for kind, edit in found.items()
    ]
    if "compact" in found:
        path = f"/runs/{done.slug}/compactions/{found['compact'].number}/"
        shots.append(Shot(name="edit-entry", path=path, click=".block-list li[data-fate=folded] .br"))
    lost = Edit.objects.get(run=failed, state="failed")
    return [*shots, Shot(name="edit-failed", path=f"/runs/{failed.slug}/compactions/{lost.number}/")]


def _everywhere(live: Run) -> list[Shot]:
    return [
        Shot(name="fleet", path="/"),
        Shot(name="fleet-cards", path="/?view=cards"),
        Shot(name="fleet-no-match", path="/?q=quetzalcoatl"),
        Shot(name="new-run", path="/runs/new/"),
        Shot(name="search", path="/search/?q=lock"),
        Shot(name="not-found", path="/runs/r-00000/", status=404),
    ]


def _set_up(home: Path) -> None:
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    os.environ |= {"AGENTDASH_HOME": str(home), "DJANGO_SETTINGS_MODULE": "agentdash.settings"}
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # the browser's loop runs in this thread
    import django

    django.setup()
    import agentdash.celery  # noqa: F401 (else a hint would look for a broker that nobody set up)
    from agentdash import database

    database.migrate()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = [os.environ.get("AGENTDASH_CHROMIUM") or "", *CHROMIUMS]
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _session(address: str) -> dict[str, str]:
    from django.test import Client

    from agentdash.door import local

    client = Client()
    client.force_login(local())
    ((name, morsel),) = client.cookies.items()
    return {"name": name, "value": morsel.value, "url": address}


def _started(pace: str) -> Run:
    """A rehearsal run that has got somewhere."""
    from agentdash.door import local
    from runs import control
    from runs.engine.llm.rehearsal import scripts

    asked = control.Start(goal=scripts.get("").goal, llm="rehearsal", policy="demo", pace=pace)
    run = control.start(local(), asked)
    _until(run, lambda: run.turn_no >= 4)
    return run


def _rehearsed() -> Run:
    run = _started("fast")
    _until(run, lambda: run.state in OVER, seconds=240)
    return run


def _until(run: Run, reached: Any, seconds: float = 90) -> None:
    from tests.conftest import wait_until

    def look() -> bool:
        run.refresh_from_db()
        return bool(reached())

    wait_until(look, seconds=seconds, what=f"run {run.slug}")


def _stopped(run: Run) -> None:
    from agentdash.door import local
    from runs import control

    control.order(local(), run, "stop_now")
    _until(run, lambda: run.state in OVER)


def _others() -> dict[str, Run]:
    """A short run in every state but running: no worker may take these up."""
    from agentdash.door import local
    from tests import builders, story

    return {
        state: _with_failed_compaction(
            builders.a_run(local(), turns=24, state=state, reason=reason, order="")
        )
        for state, reason in story.STATES
        if state != "running"
    }


def _with_failed_compaction(run: Run) -> Run:
    from runs.engine.events import CompactionFailed, Trigger
    from runs.store import archive, lease

    claim = lease.claim(run.pk, "screens", any_state=True)
    if run.state == "failed" and claim is not None:
        lost = CompactionFailed(
            turn=run.turn_no,
            edit=run.edits.count() + 1,
            method="summary",
            trigger=Trigger.AUTO,
            why="summary cut off (max_tokens)",
            tokens_before=14_620,
            cost=4100,
            ms=2900,
        )
        archive.append(claim, lost)
    if claim is not None:
        lease.release(claim)
    return run


if __name__ == "__main__":
    sys.exit(main())
