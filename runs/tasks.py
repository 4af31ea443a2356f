"""The Celery door. A message is a hint; the database says what there is to do."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from runs import runner
from runs.runner.watch import watch

log = logging.getLogger(__name__)


@shared_task(name="runs.advance", ignore_result=True)
def advance(run_id: int) -> None:
    """One slice of a run, and a hint for the next."""
    _pass_on(run_id, runner.advance(run_id))


def answer(run_id: int) -> None:
    """The run's orders and nothing else; whoever has time for it walks it on."""
    _pass_on(run_id, runner.answer(run_id))


def _pass_on(run_id: int, again: bool) -> None:
    """A worker that leaves passes the run on in any case; embedded there is nobody to pass it to, and the next start
    asks the database."""
    if watch.leaving:
        again = not settings.AGENTDASH.embedded
    if again:
        hint(run_id)


def by_hand(run_id: int) -> None:
    """The same without a message: slice after slice until a hint gets through, or there is nothing more to do."""
    while runner.advance(run_id) and not watch.leaving and not hint(run_id):
        pass


def hint(run_id: int) -> bool:
    """Say that a run has something to do. A lost hint (False) costs time, never a turn: the sweeper looks too."""
    try:
        advance.delay(run_id)
    except OperationalError as error:
        log.warning("The broker is away, so run %s waits for the sweeper: %s", run_id, error)
        return False
    return True
