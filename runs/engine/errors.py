"""What can go wrong inside the engine. A class's docstring is the sentence a person reads."""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """The run could not go on."""

    def __str__(self) -> str:
        return super().__str__() or (self.__doc__ or "").strip()


class RunInterrupted(EngineError):
    """Leaves the loop; the run ends or waits with this reason."""

    reason = "interrupted"


class BudgetSpent(RunInterrupted):
    """The run has spent what its policy allows. Raise the limit to go on."""

    reason = "budget"


class Cancelled(RunInterrupted):
    """The call was cancelled."""

    reason = "cancelled"
    paid: Any = None
    """As in LlmTrouble."""


class Refused(RunInterrupted):
    """The llm refused to answer. Say something else, or stop the run."""

    reason = "person"


class WindowHeld(RunInterrupted):
    """The window is at its hard mark and the policy compacts only by order. Compact or clear it."""

    reason = "person"


class Spinning(RunInterrupted):
    """The same call keeps giving the same result. Say what to do instead, or resume."""

    reason = "spin"


class UnfitInputs(Spinning):
    """The llm keeps calling tools with inputs that fit none of them. Say what to do instead, or resume."""


class Spiralling(Spinning):
    """After each compaction the same is read again. Raise the limit, say what to note, or resume."""


class NeedsApproval(RunInterrupted):
    """A call waits for a person: allow it, change it or refuse it."""

    reason = "approval"


class UnknownOutcome(RunInterrupted):
    """A worker stopped while a call ran, and nobody knows how it ended. Look, and say what shall count."""

    reason = "unknown_outcome"


class NotRun(EngineError):
    """The command was not run: its workspace cannot be given to it."""


class InvalidWindow(EngineError):
    """The window cannot be sent: the API would refuse it, and no repair is known."""


class WindowFull(RunInterrupted):
    """The window is fuller than the llm takes, and nothing more can be taken out of it by itself. Clear it."""

    reason = "person"


class CutOff(RunInterrupted):
    """The llm's answers keep being cut off. Raise the reserve of the policy's window, or ask for smaller steps."""

    reason = "person"


class PausedAgain(RunInterrupted):
    """The llm keeps pausing instead of answering. Resume to ask it again, or say something else."""

    reason = "person"


class LlmTrouble(EngineError):
    """The llm could not be reached or did not answer properly."""

    retry = True
    """Whether the same request may succeed later."""

    paid: Any = None
    """The Usage that the server had told before the answer broke off, None where it told none."""

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class StreamCut(LlmTrouble):
    """The answer broke off before its end. Nothing of it is used; the turn is tried again."""


class AnswerTooLong(StreamCut):
    """The answer is longer than the tokens that were asked for. Nothing of it is kept but its size and hash."""


class Overloaded(LlmTrouble):
    """The llm's server has no room just now (429, 5xx, a time-out). It is tried again."""


class Unreachable(LlmTrouble):
    """The llm's server does not answer at that address."""


class Rejected(LlmTrouble):
    """The llm's server refuses us: key, permission, credit, or an unknown llm. A person must act."""

    retry = False


class BadRequest(LlmTrouble):
    """The llm's server calls the request invalid. That is our mistake, or its rules have changed."""

    retry = False


class PromptTooLong(BadRequest):
    """The request is longer than the llm's window."""
