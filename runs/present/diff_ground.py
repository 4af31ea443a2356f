"""The ground of an estimate, read from the archive: the window now, how fast it grows, what it costs."""

from __future__ import annotations

from runs.engine import events, tokens
from runs.engine.policy.model import smaller
from runs.engine.window.head import notes_text
from runs.models import Episode, Note, Run
from runs.store import page_reads

from . import diff_window
from .diff_estimate import Ground, stubs
from .diff_page import price_of
from .diff_window import parts_of
from .now import LOOK_BACK
from .vitals import growth, policy_of


def ground(run: Run) -> Ground | None:
    """None before the first turn: there is nothing to compact yet."""
    frame = diff_window.frame_of(run)
    last = page_reads.last_closed(run)
    if frame is None or last is None:
        return None
    sizes, entries = diff_window.load(run, frame, run.version, page_reads.last_message(run))
    episode = Episode.objects.filter(run=run).order_by("-number").first()
    window = run.sums.get("window", {}).get("final") or last.window
    fixed = (sizes.system, sizes.tools)
    return Ground(
        entries=entries,
        sizes=sizes,
        policy=policy_of(run),
        limit=last.limit,
        window=window,
        growth=growth(page_reads.recent_closed(run, LOOK_BACK)) or 0.0,
        turn=run.turn_no,
        price=price_of(run.llm),
        episode=episode.tokens if episode else 0,
        notes=_notes(run, last.limit),
        stubs=stubs(entries, sizes),
        fixed=fixed,
        ratio=window / max(sum(parts_of(*fixed, entries).values()), 1),
    )


def _notes(run: Run, limit: int) -> int:
    """Tokens of the notes as a new head would hold them."""
    policy = policy_of(run).notes
    most = smaller(policy.tokens, policy.share, limit)
    newest = {row.number: row for row in Note.objects.filter(run=run).order_by("number", "revision")}
    return tokens.estimate(notes_text([_note(row) for row in newest.values()], most))


def _note(row: Note) -> events.Note:
    return events.Note(
        number=row.number,
        revision=row.revision,
        section=row.section,
        text=row.text,
        state=row.state,
        author=row.author,
        by=row.by,
        turn=row.turn,
    )
