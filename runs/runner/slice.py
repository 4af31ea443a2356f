"""A slice: up to ten turns or sixty seconds of one claimed run.

First the archive learns of each event, then the watchers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from django.db import close_old_connections

from runs.engine.errors import (
    BadRequest,
    BudgetSpent,
    Cancelled,
    EngineError,
    LlmTrouble,
    RunInterrupted,
    Spinning,
)
from runs.engine.events import CallEnded, CallStarted, CallStatus, Checked, Delta, Event, TurnClosed
from runs.engine.loop import Agent
from runs.live import bell
from runs.models import Run
from runs.store import archive, late, lease, orders, reserve
from runs.store.archive import OrderAnswer, StateChange
from runs.store.lease import Claim, Fenced
from runs.store.resume import Standing, standing
from runs.store.transitions import When, Where

from . import applying, away, crash
from .taking_up import lost_attempt, take_up
from .waiting import come_back, give_back, seats
from .warm import warm
from .watch import FENCED, LEAVING, owner, watch

TURNS, SECONDS, CRASHES = 10, 60.0, 3
WAITS = ("turn.opened", "call.started", "llm.retry")
"""After these the run waits for others; so it does whenever an llm is asked."""

log = logging.getLogger(__name__)


def advance(run_id: int) -> bool:
    """Walk a run for one slice if nobody else does; answer its orders if it is idle. True: there is more to do."""
    return _taken(run_id, TURNS)


def answer(run_id: int) -> bool:
    """Answer a run's orders if nobody has it, and leave the rest of the slice to whoever has time for it."""
    return _taken(run_id, 0)


def _taken(run_id: int, turns: int) -> bool:
    close_old_connections()
    try:
        claim = _claim(run_id)
        if claim is None:
            watch.poke(run_id)
            return False
        with watch.holding(run_id):
            again = _walk(claim, turns)
        return again or bool(orders.due(run_id))  # an order may have come while the slice ended
    except away.TROUBLE as error:  # nothing was begun, or it was handed back; the sweeper looks again
        log.warning("run %s: the database does not answer: %s", run_id, error)
        return False
    finally:
        give_back()


def _walk(claim: Claim, turns: int) -> bool:
    """The slice, whatever becomes of it; the run is let go of at its end."""
    try:
        reserve.keep()
        again = Slice(claim, turns).walk()
    except Fenced as fenced:
        log.warning("%s", fenced)
        return False
    except (Exception, SystemExit) as error:
        if away.is_trouble(error):
            give_back()
            away.hand_back(claim, error, watch.gone)
            return False
        # our own mistake: it must not repeat for ever, and a person must see it
        log.exception("%s: the slice failed", claim.slug)
        _fail(claim, error)
        again = False
    lease.release(claim)
    return again


def _fail(claim: Claim, error: BaseException) -> None:
    why = f"agentdash itself failed ({type(error).__name__}: {error}). Nothing is lost; the log has the details."
    bell.ring(claim.run_id, archive.append(claim, state=StateChange(state="failed", reason=why)))


def _claim(run_id: int) -> Claim | None:
    """When it is this run's turn to be worked on, unless somebody else works on it or is about to."""
    if watch.leaving or watch.holds(run_id):
        return None
    with watch.lined_up(run_id) as alone:
        if not alone:
            return None
        seats.serve(run_id)
        if orders.pending(run_id):
            seats.call(run_id)
        come_back()
        if watch.leaving:
            return None
        claim = lease.claim(run_id, owner())
        if claim is None and orders.due(run_id):
            claim = lease.claim(run_id, owner(), any_state=True)
        return claim


class Slice:
    """One claimed stretch of a run, of at most so many turns."""

    def __init__(self, claim: Claim, most: int) -> None:
        self.claim = claim
        self.most = most
        self.left = warm.take(claim)
        self.found: Standing | None = None if self.left else standing(claim.run_id)
        run = self.found.run if self.found else Run.objects.only("state", "reason").get(pk=claim.run_id)
        self.state, self.reason = run.state, run.reason
        self.turns = 0
        self.until = time.monotonic() + SECONDS
        self.quiet: list[Event] = []
        self.agent: Agent

    def walk(self) -> bool:
        """True when there is more to do and the run is in a state to do it."""
        if not self._taken_up():
            return False
        self.answer_orders()
        while self.state in applying.WORKING and self._has_room():
            self._one_turn()
            self.answer_orders()
        if self.state not in applying.WORKING:
            return False
        warm.keep(self.claim, self.agent, self.left.slices + 1 if self.left else 1)
        return True

    def _taken_up(self) -> bool:
        if self.left:
            self.agent = self.left.agent
            self.agent.desk.cancel = watch.fresh(self.claim.run_id)
            return True
        assert self.found is not None
        self._look_back(self.found)
        try:
            self.agent = take_up(self.found, watch.fresh(self.claim.run_id))
        except EngineError as error:
            self._troubled(error)
            return False
        return True

    def _look_back(self, found: Standing) -> None:
        """What a worker that is gone left behind: a lost call, or one crash too many."""
        lost = lost_attempt(found)
        if lost:
            self.store(lost)
        if self.claim.crash_streak >= CRASHES and self.state in applying.WORKING:
            times, turn = self.claim.crash_streak, found.run.turn_no + 1
            self.turn_to("failed", f"crashed {times} times in turn {turn}. Retry when the cause is gone.")

    def _has_room(self) -> bool:
        return self.turns < self.most and time.monotonic() < self.until and not watch.leaving

    def _one_turn(self) -> None:
        self.turns += 1
        try:
            for event in self.agent.turn():
                if self._leaves_to_the_next(event):
                    self.agent.desk.cancel(LEAVING)
                    return
                self.note(event)
        except Cancelled:
            pass
        except EngineError as error:
            self._troubled(error)
            return
        if self.agent.desk.cancel.reason:
            self._woken()
        elif self.agent.finished and not self._read_queue():
            self.turn_to("done")
        else:
            self._step_taken()

    def _leaves_to_the_next(self, event: Event) -> bool:
        """While the process leaves, a call that has not begun stays planned: the next owner runs it."""
        if not watch.leaving or self.agent.desk.cancel.reason not in ("", LEAVING):
            return False
        ended = event.ended if isinstance(event, TurnClosed) else (event,)
        skipped = (one for one in ended if isinstance(one, CallEnded) and one.status is CallStatus.SKIPPED)
        return isinstance(event, CallStarted) or any(skipped)

    def _woken(self) -> None:
        """The call was cancelled: by an order that is applied next, or because this process must let go."""
        reason = self.agent.desk.cancel.reason
        if reason == FENCED:
            raise Fenced(f"{self.claim.slug} could not renew its lease.")
        if reason != LEAVING:
            cancel = watch.fresh(self.claim.run_id)
            self.agent.desk.cancel = cancel

    def _step_taken(self) -> None:
        left = applying.steps_left(self.reason)
        if left == 1:
            self.turn_to("paused", "person")
        elif left:
            self.turn_to("running", applying.stepping(left - 1))

    def _read_queue(self) -> bool:
        """Messages that were queued for the moment the run stops by itself: they make it go on."""
        here = self._here()
        queued = [asked for asked in orders.pending(self.claim.run_id) if asked.met(here).when is When.STOP]
        for asked in queued:
            self._apply(asked)
        return bool(queued)

    def answer_orders(self) -> None:
        """Everything that waits, in its order, and what arrives meanwhile. A run that is leaving answers nothing."""
        while asked := self._next_order():
            self._apply(asked)

    def _next_order(self) -> orders.Asked | None:
        if self.agent.desk.cancel.reason in (LEAVING, FENCED):
            return None
        here = self._here()
        return next((one for one in orders.pending(self.claim.run_id) if not one.waits(here)), None)

    def _here(self) -> Where:
        return Where(state=self.state, reason=self.reason, in_turn=self.agent.open is not None)

    def _apply(self, asked: orders.Asked) -> None:
        try:
            for step in applying.apply(self.agent, asked, self._here()):
                answers = [step.answer] if step.answer else []
                self.store(*step.events, answers=answers, state=step.state)
        except EngineError as error:
            self.store(answers=[OrderAnswer(order_id=asked.id, state="rejected", reason=str(error))])
        if self.agent.desk.cancel.reason:
            self._woken()

    def note(self, event: Event) -> None:
        """Typing goes to the watchers only; all else is stored first. That nothing was done is stored with whatever
        is done next: a commit of its own for it would be two in five."""
        if isinstance(event, Delta):
            bell.type(self.claim.run_id, event)
        elif isinstance(event, Checked) and event.verdict == "not fired":
            self.quiet.append(event)
        else:
            self.store(event)

    def store(
        self, *events: Event, answers: Sequence[OrderAnswer] = (), state: StateChange | None = None
    ) -> None:
        come_back()
        quiet, self.quiet = self.quiet, []
        if any(isinstance(event, CallStarted) for event in events):
            watch.acting(self.claim.run_id, True)
        try:
            with crash.points(events):
                seq = archive.append(self.claim, *quiet, *events, answers=answers, state=state)
        except Fenced:
            for event in events:
                if isinstance(event, CallEnded):
                    late.keep(self.claim, event)
            raise
        if state:
            self.state, self.reason = state.state, state.reason
        bell.ring(self.claim.run_id, seq)
        self._mark(events)

    def _mark(self, events: Sequence[Event]) -> None:
        """What this process does from now on with the run: it waits for others, or acts on nothing any more."""
        kinds = [event.kind for event in events]
        if "call.ended" in kinds:
            watch.acting(self.claim.run_id, False)
        if any(kind in WAITS for kind in kinds):
            give_back()

    def turn_to(self, state: str, reason: str = "") -> None:
        self.store(state=StateChange(state=state, reason=reason))

    def _troubled(self, error: EngineError) -> None:
        """Trouble of the API waits, for a person or for better times; only our own mistakes fail a run."""
        if isinstance(error, Spinning):
            self.turn_to("paused", f"spin: {error}")
        elif isinstance(error, BudgetSpent):
            self.turn_to("waiting", f"budget: {error}")
        elif isinstance(error, RunInterrupted):
            self.turn_to("waiting", f"{error.reason}: {error}")
        elif isinstance(error, LlmTrouble) and not isinstance(error, BadRequest):
            self.turn_to("waiting", f"llm: {error}")
        else:
            self.turn_to("failed", str(error))
