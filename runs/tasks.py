"""The Celery door. A message is a hint; the database says what there is to do."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from runs import runner

log = logging.getLogger(__name__)


@shared_task(name="runs.advance", ignore_result=True)
def advance(run_id: int) -> None:
    """One slice of a run, and a hint for the next."""
    if runner.advance(run_id):
        hint(run_id)


def hint(run_id: int) -> None:
    """Say that a run has something to do. A lost hint costs time, never a turn: the sweeper looks too."""
    try:
        advance.delay(run_id)
    except OperationalError as error:
        log.warning("The broker is away, so run %s waits for the sweeper: %s", run_id, error)
