"""Starting a run: everything is checked first, so that a refusal leaves nothing half-made behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from runs import tasks
from runs.engine import tokens
from runs.engine.llm.rehearsal import scripts
from runs.engine.llm.rehearsal.script import Script
from runs.engine.messages import Author, Kind, Message, Role, text
from runs.engine.sandbox import owner
from runs.live import bell
from runs.models import Run
from runs.store import archive

from . import room
from .args import tidy
from .invalid import Invalid

LONGEST_GOAL = 200_000
LONGEST_TITLE = 80
PACES = ("human", "fast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a person asks for. Empty, 0 or None: the default. `policy`: a preset's name or a .toml file."""

    goal: str
    llm: str = ""
    workspace: str = ""
    policy: str = "default"
    limit: int | None = None
    max_turns: int | None = None
    max_usd: float | None = None
    pace: str = "human"
    title: str = ""


def start(user: Any, asked: Start) -> Run:
    """A new run, ready for the next worker. Raises Invalid, and then there is no row and no folder."""
    llm = asked.llm or settings.AGENTDASH.llm or "rehearsal"
    script = _script(llm)  # before the goal, which a rehearsal of no such name could not bring along
    goal = _goal(asked.goal)
    if asked.pace not in PACES:
        raise Invalid(f"The pace is one of {', '.join(PACES)}, and not {asked.pace!r}.")
    capability = room.capability_of(llm)
    policy = room.policy_of(asked.policy, asked.limit or 0, asked.max_turns or 0, asked.max_usd, capability)
    first = _first_message(goal, user.get_username())
    limit = room.limit_for(first, policy, capability)
    slug = archive.new_slug()
    with _workspace(asked.workspace, slug, script) as workspace:
        run = archive.create(
            archive.NewRun(
                owner_id=user.pk,
                goal=first,
                title=_title(asked.title, goal, script),
                llm=llm,
                workspace=str(workspace),
                slug=slug,
                policy=policy.stored(),
                options=_options(asked, script),
                limit=limit,
            )
        )
    transaction.on_commit(lambda: _announce(run.pk, run.next_seq - 1))
    return run


def _announce(run_id: int, seq: int) -> None:
    bell.ring(run_id, seq)
    tasks.hint(run_id)


def _goal(given: str) -> str:
    goal = tidy(given).strip()
    if not goal:
        raise Invalid("The goal is empty. Say in a sentence what the agent shall do.")
    if len(goal) > LONGEST_GOAL:
        raise Invalid(
            f"The goal has {len(goal):,} characters, and {LONGEST_GOAL:,} are allowed. "
            "Put the long part into a file of the workspace and name it in the goal."
        )
    return goal


def _script(llm: str) -> Script | None:
    """The script of a rehearsal, None for a real llm."""
    if not room.is_rehearsal(llm):
        return None
    name = llm.removeprefix("rehearsal").removeprefix("/").partition("+")[0]
    try:
        return scripts.get(name)
    except KeyError:
        raise Invalid(f"There is no rehearsal {name!r}. There are: {', '.join(scripts.names())}.") from None


def _first_message(goal: str, by: str) -> Message:
    return Message(
        number=1,
        role=Role.USER,
        author=Author.PERSON,
        kind=Kind.GOAL,
        turn=0,
        content=(text(goal),),
        tokens=tokens.estimate(goal) + tokens.PER_BLOCK,
        by=by,
    )


def _title(given: str, goal: str, script: Script | None) -> str:
    if script is not None and goal == tidy(script.goal).strip():
        given = given or script.title
    line = tidy(given).strip() or goal
    first = line.splitlines()[0].strip()
    return first if len(first) <= LONGEST_TITLE else first[: LONGEST_TITLE - 1].rstrip() + "…"


def _options(asked: Start, script: Script | None) -> Mapping[str, Any]:
    return {} if script is None else {"script": script.name, "pace": asked.pace}


@contextmanager
def _workspace(given: str, slug: str, script: Script | None) -> Iterator[Path]:
    """The folder of the run; one that was made for it goes again when the run does not come about."""
    if given:
        yield _given_workspace(given, script)
        return
    made = Path(settings.AGENTDASH_HOME) / "workspaces" / slug
    try:
        _make(made, script)
        yield made
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _make(folder: Path, script: Script | None) -> None:
    try:
        folder.mkdir(parents=True)
        if script is not None:
            script.make_workspace(folder)
    except OSError as error:
        raise Invalid(
            f"The workspace {folder} cannot be made: {error.strerror}. Make room, or set AGENTDASH_HOME."
        ) from None


def _given_workspace(given: str, script: Script | None) -> Path:
    if script is not None:
        raise Invalid("A rehearsal makes its own workspace. Leave the workspace out, or choose a real llm.")
    try:
        folder = Path(given).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise Invalid(f"The workspace {given!r} is no path. Name a folder that exists.") from None
    home = Path(settings.AGENTDASH_HOME).resolve()
    ours = home / "workspaces"
    if folder.is_relative_to(ours) and folder != ours and folder.is_dir():
        return folder
    if home.is_relative_to(folder) or folder.is_relative_to(home):
        raise Invalid(
            f"The workspace {folder} holds agentdash's own files ({home}), which no agent may reach. "
            "Name a folder beside it."
        )
    if why := owner.refusal(folder):
        raise Invalid(why)
    return folder
