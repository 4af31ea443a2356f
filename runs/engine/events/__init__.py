"""What a run reports while it works. The engine yields these; the store keeps them, pages show them.

`kind` and the keys of `data()` are a contract (scripts read them); payloads that are stored elsewhere (bodies,
versions) travel as attributes and never in `data()`.
"""

from .approvals import ApprovalAnswered, ApprovalAsked, Decision, Verdict
from .base import Event
from .edits import (
    Checked,
    CompactionFailed,
    CompactionStarted,
    WindowEdited,
)
from .lines import (
    NoteChanged,
    NoticeGiven,
    PolicyChanged,
    Recalled,
    Repaired,
    Said,
    SpinSeen,
    SpiralSeen,
    ValveReached,
)
from .turns import (
    CallEnded,
    CallStarted,
    Delta,
    LlmRetry,
    PlannedCall,
    TurnAnswered,
    TurnClosed,
    TurnLost,
    TurnOpened,
)
from .values import (
    PARTS,
    CallStatus,
    Edit,
    Effect,
    Episode,
    Form,
    Frame,
    Item,
    Note,
    Parts,
    Trigger,
    Usage,
    Version,
)

__all__ = [
    "ApprovalAnswered",
    "ApprovalAsked",
    "CallEnded",
    "CallStarted",
    "CallStatus",
    "Checked",
    "CompactionFailed",
    "CompactionStarted",
    "Decision",
    "Delta",
    "Edit",
    "Effect",
    "Episode",
    "Event",
    "Form",
    "Frame",
    "Item",
    "LlmRetry",
    "Note",
    "NoteChanged",
    "NoticeGiven",
    "PARTS",
    "Parts",
    "PlannedCall",
    "PolicyChanged",
    "Recalled",
    "Repaired",
    "Said",
    "SpinSeen",
    "SpiralSeen",
    "Trigger",
    "TurnAnswered",
    "TurnClosed",
    "TurnLost",
    "TurnOpened",
    "Usage",
    "ValveReached",
    "Verdict",
    "Version",
    "WindowEdited",
]
