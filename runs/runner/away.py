"""The database is away, locked or full in the middle of a slice.

What was committed stands; the rest is done again. The run is handed back as soon as the database answers. If that took
longer than PATIENCE_S, or the disk is full, it is paused with the reason: then a person should look first.
"""

from __future__ import annotations

import errno
import logging
import threading
import time

from django.db import Error, InterfaceError, OperationalError, connection, transaction

from runs.live import bell
from runs.store import archive, lease, reserve
from runs.store.archive import StateChange
from runs.store.lease import Claim, Fenced

from .applying import WORKING

PATIENCE_S, PAUSE_S = 30.0, 0.5
TROUBLE = (OperationalError, InterfaceError)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

FULL = "database: the disk is full. Nothing that was committed is lost. Make room, then resume."
LONG = (
    "database: it did not answer for {seconds} s ({why}). Nothing that was committed is lost. Resume goes on."
)

log = logging.getLogger(__name__)


def is_full(error: BaseException) -> bool:
    return (
        getattr(error, "errno", None) in NO_ROOM
        or "disk is full" in str(error)
        or "No space left" in str(error)
    )


def is_trouble(error: BaseException) -> bool:
    """Whether this is the database's or the disk's trouble and not a mistake of ours."""
    return is_full(error) or isinstance(error, TROUBLE)


def hand_back(claim: Claim, error: BaseException, ended: threading.Event) -> None:
    """Wait until the database answers, and let go of the run. Patience counts from now: before, the run may have waited
    long for its llm, and nobody knows how the database did."""
    since = time.monotonic()
    log.warning("%s: the database failed, and the run waits for it: %s", claim.slug, error)
    if is_full(error):
        reserve.give()
    while True:
        try:
            _let_go(claim, error, since)
            return
        except Fenced:
            return
        except Error:
            connection.close()
            if ended.wait(PAUSE_S):
                return


def _let_go(claim: Claim, error: BaseException, since: float) -> None:
    with transaction.atomic():
        state = lease.fence(claim).state  # waits for a lock, and only then it is known how long it was
    seconds = time.monotonic() - since
    if state in WORKING and (is_full(error) or seconds > PATIENCE_S):
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        reason = FULL if is_full(error) else LONG.format(seconds=round(seconds), why=why)
        bell.ring(claim.run_id, archive.append(claim, state=StateChange(state="paused", reason=reason)))
    lease.release(claim)
