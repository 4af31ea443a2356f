"""Is a run's archive whole? Bodies hashed again, the chain followed, every request rebuilt and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runs import models
from runs.engine.messages import canonical, sha256

from . import anchors, blobs, chain, requests

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
    """The first damage of each kind; which of them comes first in the run is for the caller to see."""
    for check in (_chain, _bodies, _results, _windows, _requests):
        found = next(check(run), None)
        if found is not None:
            yield found


def _chain(run: models.Run) -> Iterator[Bad]:
    before, expected, marks = "", 1, anchors.read(run.slug)
    for row in models.Event.objects.filter(run=run, seq__lt=run.next_seq).order_by("seq").iterator(1000):
        if row.seq != expected:
            yield Bad(seq=expected, why=f"event {expected} is missing")
        line = chain.Line(kind=row.kind, data=row.data, turn=row.turn)
        if row.hash != chain.link(before, slug=run.slug, seq=row.seq, line=line, at=row.at):
            yield Bad(seq=row.seq, why="its hash does not fit its content and the event before")
        if marks.get(row.seq, row.hash) != row.hash:
            yield Bad(seq=row.seq, why="its hash is not the one in the anchor file")
        before, expected = row.hash, row.seq + 1
    if expected != run.next_seq:
        yield Bad(seq=expected, why=f"the run has {run.next_seq - 1} events, the archive {expected - 1}")
    if before != run.head_hash:
        yield Bad(seq=expected - 1, why="the run's row names another newest hash")
    if missing := [seq for seq in marks if seq >= expected and not _written_since(run, seq)]:
        yield Bad(seq=missing[0], why=f"event {missing[0]} is anchored, and missing")


def _written_since(run: models.Run, seq: int) -> bool:
    """A run may be going on while it is checked."""
    return models.Run.objects.get(pk=run.pk).next_seq > seq


def _bodies(run: models.Run) -> Iterator[Bad]:
    expected = 1
    for row in models.Message.objects.filter(run=run).order_by("number").iterator(SOME):
        seq = _seq_of(run, row.turn)
        if row.number != expected:
            yield Bad(seq=seq, why=f"message {expected} is missing")
        if why := _wrong(row.blob_id):
            yield Bad(seq=seq, why=f"message {row.number}: {why}")
        expected = row.number + 1


def _results(run: models.Run) -> Iterator[Bad]:
    for row in models.Call.objects.filter(run=run, result__isnull=False).order_by("id").iterator(SOME):
        if why := _wrong(row.result_id or ""):
            yield Bad(seq=_seq_of(run, row.turn), why=f"the result of call {row.tool_use_id}: {why}")


def _wrong(digest: str) -> str:
    try:
        value = blobs.read([digest])[digest]
    except blobs.MissingBlob:
        return "its body is missing"
    except Exception as error:  # any damage: bytes that no longer unpack, parse or fit together
        return f"its body cannot be read ({type(error).__name__})"
    return "" if sha256(canonical(value)) == digest else "its body does not have the hash it is named by"


def _windows(run: models.Run) -> Iterator[Bad]:
    known = set(models.Message.objects.filter(run=run).values_list("number", flat=True))
    seqs = {row.number: row.turn for row in models.Edit.objects.filter(run=run).only("number", "turn")}
    for row in models.Version.objects.filter(run=run).order_by("number").iterator(SOME):
        lost = {item[0] for item in row.items} - known
        if lost:
            seq = _seq_of(run, seqs.get(row.edit, 0))
            yield Bad(seq=seq, why=f"window {row.number} names message {min(lost)}, which is missing")


def _requests(run: models.Run) -> Iterator[Bad]:
    for row in models.Turn.objects.filter(run=run).order_by("id").iterator(SOME):
        if why := _unlike(run, row):
            yield Bad(seq=_seq_of(run, row.number), why=f"the request of turn {row.number} {why}")


def _unlike(run: models.Run, row: models.Turn) -> str:
    try:
        sent = requests.rebuild(run, row)
    except Exception as error:  # as above: whatever the damage does to reading is a finding, not a crash
        return f"cannot be rebuilt ({type(error).__name__}: {error})"
    return "" if sent.as_sent else "is not the one that was sent"


def _seq_of(run: models.Run, turn: int) -> int:
    """The first event of a turn: where a reader finds what is damaged."""
    found = (
        models.Event.objects.filter(run=run, turn=turn).order_by("seq").values_list("seq", flat=True).first()
    )
    return found or 0
