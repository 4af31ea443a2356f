"""Making an agent from its parts: techniques of the policy, tools, system prompt, frame, window, gauge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path

from .errors import EngineError
from .events import Note, Version
from .loop import Agent, Open
from .messages import Message
from .middleware import approval
from .middleware.base import Desk, Numbers, Record, Spent, Technique
from .middleware.words import Words
from .policy import Policy
from .policy.model import smaller
from .ports import Cancel, Capability, Clock, History, Llm, RunFiles, Sandbox, ToolContext
from .sandbox import Ask
from .tools import RunCommand, Toolbox, standard
from .window.forms import Shape
from .window.gauge import Gauge, Measured
from .window.render import Renderer, frame_of
from .window.versions import Window

SYSTEM = Path(__file__).with_name("system.md")
MOST = 200_000
"""The default limit goes no higher: quality falls and cost grows long before a million tokens."""

LARGEST_ANSWER = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything an agent is made of. Numbers are the next free ones; `attempts` those made of the next turn."""

    slug: str
    policy: Policy
    llm: Llm
    version: Version
    messages: Sequence[Message]
    workspace: Path
    files: RunFiles
    history: History
    sandbox: Sandbox
    clock: Clock
    cancel: Cancel
    spool: Path | None = None
    turn: int = 0
    attempts: int = 0
    notes: Sequence[Note] = ()
    numbers: Numbers = field(default_factory=Numbers)
    spent: Spent = field(default_factory=Spent)
    record: Record = field(default_factory=Record)
    measured: Measured | None = None
    measured_in: str = ""
    """Hash of the frame that `measured` was counted in: another frame makes it worthless."""

    summariser: Llm | None = None
    ratio: float = 1.0
    known: Mapping[int, int] = field(default_factory=dict)
    found: Open | None = None
    words: Words = field(default_factory=Words)


def assemble(parts: Parts) -> Agent:
    techniques = _techniques(parts.policy)
    limit = limit_of(parts.policy, parts.llm.capability)
    shape = shape_of(parts.policy, limit)
    window = Window(parts.version, parts.messages)
    empty = frame_of(llm=parts.llm.capability.llm, system="", tools=(), params=_params(parts), shape=shape)
    desk = Desk(
        slug=parts.slug,
        policy=parts.policy,
        limit=limit,
        frame=empty,
        window=window,
        gauge=Gauge(frame=empty),
        renderer=Renderer(parts.slug),
        llm=parts.llm,
        summaries_from=parts.summariser,
        workspace=parts.workspace,
        files=parts.files,
        history=parts.history,
        clock=parts.clock,
        cancel=parts.cancel,
        turn=parts.turn,
        notes={note.number: note for note in parts.notes},
        numbers=parts.numbers,
        spent=parts.spent,
        record=parts.record,
        words=replace(parts.words, each=_each(parts.sandbox)),
    )
    for technique in techniques:
        technique.start(desk)
    toolbox = Toolbox((*standard(), *(tool for technique in techniques for tool in technique.tools())))
    approval.check(parts.policy.approval.tools, toolbox.names)
    desk.frame = frame_of(
        llm=parts.llm.capability.llm,
        system=system_prompt(techniques),
        tools=toolbox.schemas(),
        params=_params(parts),
        shape=shape,
    )
    desk.gauge = Gauge(
        frame=desk.frame, last=_measured(parts, desk), ratio=parts.ratio, known=dict(parts.known)
    )
    agent = Agent(desk, techniques, toolbox, _context(parts, desk), parts.found)
    agent.asking.attempts = 0 if parts.found else parts.attempts
    return agent


def _techniques(policy: Policy) -> list[Technique]:
    """Those of the policy; approval always: no list may take from a person what they were to be asked."""
    names = policy.techniques
    if approval.Approval.name not in names:
        names = (approval.Approval.name, *names)
    return [technique_named(name)() for name in names]


def _each(sandbox: Sandbox | None) -> frozenset[str]:
    """The tools that ask every time, whatever the policy says: where there is no sandbox, the shell."""
    return frozenset({RunCommand.name}) if sandbox is not None and sandbox.name == Ask.NAME else frozenset()


def limit_of(policy: Policy, capability: Capability) -> int:
    """Tokens a request may have: what the policy says, else the llm's window less its reserve, at most MOST."""
    room = capability.context - max_tokens(policy, capability)
    return min(policy.window.limit, room) if policy.window.limit else min(room, MOST)


def max_tokens(policy: Policy, capability: Capability) -> int:
    """Tokens an answer may have: the reserve, else what the llm can, at most a fifth of its window."""
    most = min(capability.max_output, capability.context // 5, LARGEST_ANSWER)
    return min(policy.window.reserve, capability.max_output) if policy.window.reserve else most


def _params(parts: Parts) -> dict[str, object]:
    params: dict[str, object] = {"max_tokens": max_tokens(parts.policy, parts.llm.capability)}
    if parts.llm.capability.thinking in ("adaptive", "bound"):
        params["thinking"] = {"type": "adaptive"}
    return params


def shape_of(policy: Policy, limit: int) -> Shape:
    offload = policy.offload
    return Shape(
        result_tokens=smaller(offload.result_tokens, offload.result_share, limit),
        message_tokens=smaller(offload.message_tokens, offload.message_share, limit),
        head_lines=offload.head_lines,
        tail_lines=offload.tail_lines,
        key_lines=policy.clear.key_lines,
        exclude=policy.clear.exclude,
    )


def system_prompt(techniques: Iterable[Technique]) -> str:
    own = (technique.prompt() for technique in techniques)
    return "\n\n".join(part for part in (SYSTEM.read_text(encoding="utf-8").strip(), *own) if part)


@cache
def technique_named(name: str) -> type[Technique]:
    """A technique by the stem of its file here, or a person's own by its dotted class."""
    if "." in name:
        path, _, cls = name.rpartition(".")
        found = getattr(import_module(path), cls, None)
        if isinstance(found, type) and issubclass(found, Technique):
            return found
        raise EngineError(f"The policy names the technique {name!r}, but there is no such class.")
    try:
        module = import_module(f"{__package__}.middleware.{name}")
    except ModuleNotFoundError:
        raise EngineError(
            f"The policy names the technique {name!r}, but there is none of that name."
        ) from None
    own = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )
    return next(value for value in own if issubclass(value, Technique))


def _measured(parts: Parts, desk: Desk) -> Measured | None:
    return parts.measured if parts.measured_in == desk.frame.sha256 else None


def _context(parts: Parts, desk: Desk) -> ToolContext:
    return ToolContext(
        run=parts.slug,
        turn=parts.turn,
        key="",
        workspace=parts.workspace,
        files=parts.files,
        history=parts.history,
        notes=lambda: list(desk.notes.values()),
        sandbox=parts.sandbox,
        cancel=parts.cancel,
        spool=parts.spool,
        page_tokens=desk.shape.result_tokens,
    )
