"""The decision log: what each technique did, and what it decided not to do. Checks that repeat are one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from runs.models import Edit, Event, Order, Run
from runs.store import page_reads

from . import edits, numbers

FILTERS = ("all", "fired", "not-fired", "you")
MOST = 600
KINDS = (
    *("window.checked", "window.edited", "compaction.started", "compaction.failed", "order.answered"),
    *("person.said", "notice.given", "note.changed", "recall.asked", "message.repaired", "turn.lost"),
    *("valve.reached", "spin.seen", "spiral.seen", "run.state", "approval.asked", "approval.answered"),
)
TECHNIQUES = {"clear_results": "Clear results", "compact": "Compact", "offload": "Offload"}
VERDICTS = {
    "allow": "Allowed once",
    "always": "Allowed for the whole run",
    "edit": "Allowed with another input",
    "deny": "Refused",
    "done": "Outcome: it had run",
    "again": "Outcome unknown: run again",
    "leave": "Outcome left unknown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the log. `value` is what was measured or moved; `times` > 1: that many checks in one line."""

    key: str
    turn: int
    icon: str
    title: str
    at: datetime
    more: str = ""
    value: str = ""
    css: str = ""
    family: str = ""
    times: int = 1
    first_turn: int = 0
    edit: int = 0


def log(run: Run, which: str = "all", turn: int | None = None) -> tuple[list[Line], dict[str, int]]:
    """Newest first, and how many lines each filter has among them."""
    before = page_reads.seq_of_turn(run, turn + 1) if turn is not None else None
    events = page_reads.events(run, KINDS, limit=MOST, before=before)
    made = page_reads.edits(run, {event.data["edit"] for event in events if "edit" in event.data})
    orders = _orders(run, events)
    lines = [line for event in reversed(events) for line in _lines(event, made, orders)]
    counts = {name: sum(1 for line in lines if name in ("all", line.family)) for name in FILTERS}
    shown = [line for line in lines if which in ("all", line.family)]
    return list(_collapsed(shown)), counts


def _orders(run: Run, events: Iterable[Event]) -> dict[int, Order]:
    ids = {event.data["order"] for event in events if event.kind == "order.answered"}
    return {order.pk: order for order in Order.objects.filter(run=run, pk__in=ids)} if ids else {}


def _lines(event: Event, made: dict[int, Edit], orders: dict[int, Order]) -> Iterator[Line]:
    line = Line(
        key=f"l{event.seq}",
        turn=event.turn,
        icon="info",
        title=event.kind,
        at=event.at,
        first_turn=event.turn,
    )
    data = event.data
    match event.kind:
        case "window.checked":
            yield _checked(line, data)
        case "window.edited" if int(data["edit"]) in made:
            yield _edited(line, made[int(data["edit"])])
        case "compaction.started":
            yield replace(line, icon="compact", title="Compaction started", more=str(data.get("why", "")))
        case "compaction.failed":
            title = "Compaction failed, window unchanged"
            yield replace(line, icon="cross", title=title, more=str(data["why"]), css="bad", family="fired")
        case "order.answered" if data["order"] in orders:
            yield _answered(line, orders[data["order"]])
        case _:
            yield from _other(line, event.kind, data)


def _checked(line: Line, data: dict[str, Any]) -> Line:
    name = TECHNIQUES.get(data["technique"], str(data["technique"]).replace("_", " ").capitalize())
    sign = "\u2265" if data["value"] >= data["threshold"] else "<"
    value = f"{_exact(data['value'])} {sign} {_exact(data['threshold'])}" if data["threshold"] else ""
    fired = data["verdict"] == "fired"
    why = str(data["why"])
    more = (
        ""
        if why.replace(" ", "") == value.replace(" ", "").replace(".0%", "%") or why.startswith(value)
        else why
    )
    return replace(
        line,
        icon="flag" if fired else "tick",
        title=f"{name}: checked, {data['verdict']}",
        value=value,
        more="" if not fired and sign == "<" else more,
        family="fired" if fired else "not-fired",
        css="" if fired else "quiet",
    )


def _exact(share: float) -> str:
    return f"{share * 100:.1f} %".replace(".0 %", " %")


def _edited(line: Line, edit: Edit) -> Line:
    kind = edits.kind_of(edit)
    titles = {
        "compaction": ("compact", f"Compaction {edits.number_of(edit)}"),
        "clearing": ("broom", "Old results cleared"),
        "offload": ("box", "Result offloaded"),
        "clear": ("clear", "Window cleared"),
    }
    icon, title = titles.get(kind, ("diff", edits.TITLES.get(kind, kind)))
    return replace(
        line,
        icon=icon,
        title=title,
        more=edits.why(edit),
        value=f"{numbers.kilo(edit.tokens_before)} \u2192 {numbers.kilo(edit.tokens_after)}",
        css="cut" if kind in ("compaction", "clear") else "",
        family="you" if edit.trigger == "person" else "fired",
        edit=edit.number if kind in ("compaction", "clear") else 0,
    )


def _answered(line: Line, order: Order) -> Line:
    said = order.args.get("text", "")
    more = order.reason or (f"\u201c{said[:80]}\u201d" if said else "")
    return replace(
        line,
        icon={"applied": "tick", "rejected": "cross"}.get(order.state, "info"),
        title=f"{order.kind.replace('_', ' ').capitalize()}: {order.state}",
        more=more,
        value=order.by,
        css="bad" if order.state == "rejected" else "",
        family="you",
    )


def _other(line: Line, kind: str, data: dict[str, Any]) -> Iterator[Line]:
    words: dict[str, tuple[str, str, str]] = {
        "person.said": ("arrow", "Message delivered", ""),
        "notice.given": ("bell", "Notice given to the agent", ""),
        "note.changed": ("note", f"Note {data.get('note')} changed", f"revision {data.get('revision')}"),
        "recall.asked": ("search", "Recall", f"{data.get('hits')} hits"),
        "message.repaired": ("tool", "Repaired before sending", ""),
        "turn.lost": ("warn", "Attempt lost", ""),
        "valve.reached": ("hand", f"Valve reached: {data.get('which')}", ""),
        "spin.seen": ("refresh", f"{data.get('name')} again, same result", f"{data.get('times')} times"),
        "spiral.seen": ("refresh", "The same was read again", f"{data.get('times')} compactions in a row"),
        "approval.asked": ("hand", f"{data.get('name')} waits for a person", ""),
        "approval.answered": ("hand", VERDICTS.get(str(data.get("verdict")), ""), str(data.get("by", ""))),
        "run.state": ("ring", f"{str(data.get('from')).capitalize()} \u2192 {data.get('to')}", ""),
    }
    icon, title, value = words[kind]
    more = str(data.get("query") or data.get("what") or data.get("reason") or data.get("why") or "")
    yield replace(line, icon=icon, title=title, value=value, more=more)


def _collapsed(lines: Sequence[Line]) -> Iterator[Line]:
    """Runs of checks that did not fire: the newest of each technique, then one line for the rest."""
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].family == "not-fired" and not lines[end].more:
            end += 1
        run = lines[at:end]
        shown = len({line.title for line in run})
        yield from run[:shown]
        rest = run[shown:]
        if len(rest) == 1:
            yield rest[0]
        elif rest:
            yield replace(
                rest[-1],
                icon="dots",
                times=len(rest),
                first_turn=rest[-1].turn,
                turn=rest[0].turn,
                value="",
                title="",
            )
        if end == at:
            yield lines[at]
            end += 1
        at = end
