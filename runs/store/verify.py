"""Is a run's archive whole? Bodies hashed again, the chain followed, every request rebuilt and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from runs import models

from . import anchors, blobs, chain, requests, seals, told

SOME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """The first event that cannot be trusted, and why. `seq` 0: the damage belongs to no event."""

    seq: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    run: str
    ok: bool
    events: int
    first_bad: Bad | None = None


def verify(run: models.Run) -> Verdict:
    """Check a run from its first event to its last. Reads all of it, never more than a window at a time."""
    run = models.Run.objects.get(pk=run.pk)
    bad = sorted(_all(run), key=lambda found: (found.seq == 0, found.seq))
    return Verdict(run=run.slug, ok=not bad, events=run.next_seq - 1, first_bad=bad[0] if bad else None)


def _all(run: models.Run) -> Iterator[Bad]:
    """The first damage each check finds; which of them comes first in the run is for the caller to see."""
    for check in CHECKS:
        found = next(check(run), None)
        if found is not None:
            yield found


def _events(run: models.Run) -> Iterator[models.Event]:
    yield from models.Event.objects.filter(run=run, seq__lt=run.next_seq).order_by("seq").iterator(1000)


def _chain(run: models.Run) -> Iterator[Bad]:
    before, expected, marks = "", 1, anchors.read(run.slug)
    for row in _events(run):
        if row.seq != expected:
            yield Bad(seq=expected, why=f"event {expected} is missing")
        line = chain.Line(kind=row.kind, data=row.data, turn=row.turn)
        if row.hash != chain.link(before, slug=run.slug, seq=row.seq, line=line, at=row.at):
            yield Bad(seq=row.seq, why="its hash does not fit its content and the event before")
        if marks.get(row.seq, row.hash) != row.hash:
            yield Bad(seq=row.seq, why="its hash is not the one in the anchor file")
        before, expected = row.hash, row.seq + 1
    yield from _head(run, before, expected - 1, marks)


def _head(run: models.Run, newest: str, last: int, marks: Mapping[int, str]) -> Iterator[Bad]:
    if last != run.next_seq - 1:
        yield Bad(seq=last + 1, why=f"the run has {run.next_seq - 1} events, the archive {last}")
    if newest != run.head_hash:
        yield Bad(seq=last, why="the run's row names another newest hash")
    missing = [seq for seq in marks if seq > last]
    if missing and models.Run.objects.get(pk=run.pk).next_seq <= missing[0]:
        yield Bad(seq=missing[0], why=f"event {missing[0]} is anchored, and missing")


def _rows(run: models.Run) -> Iterator[Bad]:
    """Messages and windows against the seals of the events that brought them, in the order of both."""
    archive = seals.Archive(run)
    for event in _events(run):
        if "rows" in event.data and not archive.fits(event):
            yield Bad(seq=event.seq, why="the messages or the window it brought are not what it sealed")
    if archive.left() and models.Run.objects.get(pk=run.pk).next_seq == run.next_seq:
        yield Bad(seq=run.next_seq - 1, why=f"message {archive.taken + 1} was brought by no event")


def _told(run: models.Run) -> Iterator[Bad]:
    events = _events(run)
    while some := list(islice(events, SOME)):
        rows = told.Rows(run, some)
        yield from (Bad(seq=event.seq, why=why) for event in some if (why := rows.unlike(event)))


def _bodies(run: models.Run) -> Iterator[Bad]:
    for row in models.Message.objects.filter(run=run).order_by("number").iterator(SOME):
        if why := blobs.damage(row.blob_id):
            yield Bad(seq=_seq_of(run, row.turn), why=f"message {row.number}: {why}")


def _results(run: models.Run) -> Iterator[Bad]:
    for row in models.Call.objects.filter(run=run).exclude(result=None).order_by("id").iterator(SOME):
        if why := blobs.damage(row.result_id or ""):
            yield Bad(seq=_seq_of(run, row.turn), why=f"the result of call {row.tool_use_id}: {why}")


def _answers(run: models.Run) -> Iterator[Bad]:
    """Answers as they came, where what is kept of them is not the same."""
    for event in models.Event.objects.filter(run=run, kind="turn.answered", data__has_key="raw").order_by(
        "seq"
    ):
        if why := blobs.damage(event.data["raw"]):
            yield Bad(seq=event.seq, why=f"the answer as it came: {why}")


def _frames(run: models.Run) -> Iterator[Bad]:
    turns = models.Turn.objects.filter(run=run).order_by("id").values_list("frame_id", "number")
    first_seen = dict(reversed(turns))
    for row in models.Frame.objects.filter(sha256__in=first_seen):
        if row.sha256 != seals.of_frame(row.llm, row.system, row.tools, row.params, row.render):
            yield Bad(seq=_seq_of(run, first_seen[row.sha256]), why=f"frame {row.sha256[:8]} is not its hash")


def _requests(run: models.Run) -> Iterator[Bad]:
    past = requests.Past(run)
    for row in models.Turn.objects.filter(run=run).order_by("id").iterator(SOME):
        if why := _unlike(past, row):
            yield Bad(seq=_seq_of(run, row.number), why=f"the request of turn {row.number} {why}")


def _unlike(past: requests.Past, row: models.Turn) -> str:
    try:
        sent = past.sent(row)
    except Exception as error:  # whatever the damage does to reading is a finding, not a crash
        return f"cannot be rebuilt ({type(error).__name__}: {error})"
    return "" if sent.as_sent else "is not the one that was sent"


def _seq_of(run: models.Run, turn: int) -> int:
    """The first event of a turn: where a reader finds what is damaged. Before the first turn: the first of all."""
    found = (
        models.Event.objects.filter(run=run, turn=turn).order_by("seq").values_list("seq", flat=True).first()
    )
    return found or 0


CHECKS: tuple[Callable[[models.Run], Iterator[Bad]], ...] = (
    _chain,
    _rows,
    _told,
    _bodies,
    _results,
    _answers,
    _frames,
    _requests,
)
