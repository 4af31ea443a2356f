"""The result of a call whose worker had lost the run by then: kept beside the call, never in a window."""

from __future__ import annotations

from django.db import transaction

from runs.engine.events import CallEnded
from runs.models import Call

from . import blobs, sql
from .lease import Claim


def keep(claim: Claim, event: CallEnded) -> bool:
    """Keep what a fenced worker learned. False when there is nothing to keep it with: the call is the next owner's."""
    blob = blobs.of_value(event.result)
    with transaction.atomic():
        calls = Call.objects.filter(run_id=claim.run_id, turn=event.turn, tool_use_id=event.call.id)
        ended = calls.filter(late_result=None, result__isnull=False).exclude(result_id=blob.sha256)
        if not ended.exists():
            return False
        sql.insert("runs_blob", blobs.COLUMNS, [blob.row()], ignore=True)
        return bool(ended.update(late_result_id=blob.sha256))
