"""What the inspector's other tabs show: notes, episodes, the policy's numbers. All as of a turn, or now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.engine.policy import Policy
from runs.models import Edit, Episode, Note, Run

from . import numbers

TABS = ("window", "notes", "episodes", "policy", "log")
SECTIONS = ("decisions", "pending", "facts", "errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    sections: tuple[Section, ...]
    count: int
    open: int
    last: Note | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An episode with the edit that made it. `folded`: the number of the episode that took it in, 0 while it stands."""

    episode: Episode
    edit: Edit | None
    folded: int
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A number of the policy in words. `share` where it is a place on the limit."""

    name: str
    value: str
    more: str = ""
    share: float | None = None

    @property
    def x(self) -> str:
        return f"{(self.share or 0) * 100:.2f}%"


def notes(run: Run, turn: int | None = None) -> Notes:
    """The newest revision of each note, by section; open ones first."""
    rows = Note.objects.filter(run=run).order_by("number", "revision")
    if turn is not None:
        rows = rows.filter(turn__lte=turn)
    newest = list({note.number: note for note in rows}.values())
    names = [*SECTIONS, *sorted({note.section for note in newest} - set(SECTIONS))]
    sections = [Section(name=name, notes=tuple(_open_first(newest, name))) for name in names]
    return Notes(
        sections=tuple(section for section in sections if section.notes),
        count=len(newest),
        open=sum(1 for note in newest if note.state == "open"),
        last=max(newest, key=lambda note: (note.turn, note.revision), default=None),
    )


def _open_first(found: Sequence[Note], section: str) -> list[Note]:
    return sorted(
        (note for note in found if note.section == section),
        key=lambda note: (note.state != "open", note.number),
    )


def episodes(run: Run, turn: int | None = None) -> list[Told]:
    """Newest first."""
    found = list(Episode.objects.filter(run=run).order_by("number"))
    if turn is not None:
        found = [episode for episode in found if episode.last_turn <= turn]
    made = {
        edit.episode: edit for edit in Edit.objects.filter(run=run, episode__isnull=False, state="applied")
    }
    taken_in = {episode.folds: episode.number for episode in found if episode.folds}
    last = max(1, turn or run.turn_no)
    return [
        Told(
            episode=episode,
            edit=made.get(episode.number),
            folded=taken_in.get(episode.number, 0),
            x=f"{(episode.first_turn - 1) / last * 100:.2f}%",
            width=f"{(episode.last_turn - episode.first_turn + 1) / last * 100:.2f}%",
        )
        for episode in reversed(found)
    ]


def settings(policy: Policy, limit: int) -> tuple[list[Setting], list[Setting]]:
    """The policy's thresholds, and its other numbers."""
    return _thresholds(policy, limit), _others(policy, limit)


def _thresholds(policy: Policy, limit: int) -> list[Setting]:
    clear, compact, hard = policy.clear_at, policy.compact_at, policy.window.hard
    keep = f"keeps {numbers.percent(policy.compact.keep)} and {policy.compact.keep_messages} messages"
    frees = numbers.percent(policy.clear.frees)
    cleared = f"keeps the last {policy.clear.keep} results; only if it frees {frees} of the mark"
    found = []
    if "clear_results" in policy.techniques:
        found.append(_place("Clear old results at", clear, limit, cleared))
    if policy.compact.auto != "off":
        found.append(_place("Compact at", compact, limit, f"{policy.compact.method}, {keep}"))
    found.append(_place("Hard mark", hard, limit, "a code-made episode where summaries keep failing"))
    return found


def _place(name: str, share: float, limit: int, more: str) -> Setting:
    value = (
        f"{numbers.percent(share)} {numbers.kilo(int(share * limit))}" if limit else numbers.percent(share)
    )
    return Setting(name=name, value=value, more=more, share=share)


def _others(policy: Policy, limit: int) -> list[Setting]:
    offload, episode, valves = policy.offload, policy.episode, policy.valves
    found = [
        ("Limit", numbers.exact(limit) if limit else numbers.UNKNOWN),
        ("Offload results over", _smaller(offload.result_tokens, offload.result_share, limit)),
        ("Episode at most", _smaller(episode.tokens, episode.share, limit)),
        ("Ledger at most", _smaller(episode.ledger_tokens, episode.ledger_share, limit)),
        (
            "Notes at most",
            _smaller(policy.notes.tokens, policy.notes.share, limit) if policy.notes.on else "off",
        ),
        ("Recall at most", _smaller(policy.recall.tokens, policy.recall.share, limit)),
        ("Turns", numbers.exact(valves.turns) if valves.turns else "no valve"),
        ("Budget", numbers.usd(valves.usd * 1_000_000) if valves.usd else "no valve"),
        ("Tokens", numbers.kilo(valves.tokens) if valves.tokens else "no valve"),
        ("Minutes", numbers.exact(valves.minutes) if valves.minutes else "no valve"),
        ("Spin", f"nudge at {valves.spin_nudge}, pause at {valves.spin_pause}"),
        ("Asks a person before", ", ".join(policy.approval.tools) or "no tool"),
        (
            "Outcome unknown",
            {"tell_agent": "the agent is told", "wait": "waits for you"}[policy.approval.on_unknown],
        ),
        ("Techniques", ", ".join(name.replace("_", " ") for name in policy.techniques)),
    ]
    return [Setting(name=name, value=value) for name, value in found]


def _smaller(tokens: int, share: float, limit: int) -> str:
    value = min(tokens, int(share * limit)) if limit else tokens
    return f"{numbers.kilo(value)} tokens"
