"""Rows for tests: runs that look like real ones, written through the archive as a worker writes them.

`a_run(ada)` gives a run in the middle of its work: turns with calls and results, notes, a lost attempt, clearings,
compactions with their episodes, what a person said, and an order that waits. Its requests can be rebuilt.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine import events as ev
from runs.engine import tokens
from runs.engine.messages import Author, Counted, Kind, Message, Role, canonical, sha256, text
from runs.engine.policy import preset
from runs.engine.window.forms import Shape
from runs.engine.window.gauge import Gauge
from runs.engine.window.head import head
from runs.engine.window.render import Renderer, frame_of
from runs.engine.window.versions import Entry, Window, entries
from runs.models import Order, Run
from runs.store import archive, lease, sql
from tests import story

SHAPE = Shape(
    result_tokens=3600,
    message_tokens=7200,
    head_lines=12,
    tail_lines=12,
    key_lines=4,
    exclude=("take_note", "recall"),
)
PRICE = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
"""Microdollars a token."""


def a_person(name: str = "ada") -> Any:
    """One of the cast: ada owns the run, blas watches, zoe must see nothing."""
    from django.contrib.auth import get_user_model

    return get_user_model().objects.get_or_create(username=name)[0]


def a_run(
    owner: Any = None,
    *,
    turns: int = 30,
    limit: int = 24_000,
    state: str = "running",
    reason: str = "",
    goal: str = story.GOAL,
    title: str = story.TITLE,
    llm: str = "rehearsal",
    order: str = "compact",
) -> Run:
    """A run of so many closed turns, in that state. `order`: the kind of an order that waits, "" for none."""
    building = Building.start(owner or a_person(), limit=limit, goal=goal, title=title, llm=llm)
    for step in itertools.islice(story.steps(), turns):
        building.take(step)
    building.rest(state, reason)
    if order:
        an_order(building.run, order)
    return Run.objects.get(pk=building.run.pk)


def an_order(run: Run, kind: str, *, by: str = "ada", args: Mapping[str, Any] | None = None) -> Order:
    """An order as a page inserts it: pending, with its event."""
    made = Order.objects.create(
        run=run,
        kind=kind,
        args=dict(args or {}),
        by=by,
        at=sql.now(),
        client_key=f"{run.slug}-{kind}-{Order.objects.count()}",
    )
    archive.announce(
        run.pk, "order.asked", {"order": made.pk, "kind": kind, "state": "pending", "reason": ""}
    )
    return made


@dataclass(slots=True, kw_only=True)
class Building:
    """A run under construction, with the engine's own window, gauge and renderer."""

    run: Run
    claim: lease.Claim
    limit: int
    window: Window
    frame: ev.Frame
    gauge: Gauge
    renderer: Renderer
    turn: int = 0
    message: int = 1
    edits: int = 0
    version: int = 1
    episodes: int = 0
    notes: list[ev.Note] = field(default_factory=list)
    cleared: bool = False

    @classmethod
    def start(cls, owner: Any, *, limit: int, goal: str, title: str, llm: str) -> Building:
        first = Message(
            number=1,
            role=Role.USER,
            author=Author.PERSON,
            kind=Kind.GOAL,
            turn=0,
            content=(text(goal),),
            tokens=tokens.estimate(goal) + tokens.PER_BLOCK,
            by=owner.username,
        )
        policy = preset("demo").changed(window={"limit": limit}).model_dump(mode="json")
        new = archive.NewRun(
            owner_id=owner.pk,
            goal=first,
            title=title,
            llm=llm,
            workspace="/home/ada/invoices",
            slug=archive.new_slug(),
            policy=policy,
            limit=limit,
        )
        run = archive.create(new)
        claim = lease.claim(run.pk, "worker-1")
        assert claim is not None
        frame = frame_of(
            llm=llm, system=story.SYSTEM, tools=story.TOOLS, params={"max_tokens": 2048}, shape=SHAPE
        )
        version = ev.Version(number=1, parent=0, edit=0, base=1, items=(ev.Item(message=1),))
        window = Window(version, [first])
        gauge = Gauge(frame=frame)
        return cls(
            run=run,
            claim=claim,
            limit=limit,
            window=window,
            frame=frame,
            gauge=gauge,
            renderer=Renderer(run.slug),
        )

    def take(self, step: story.Step) -> None:
        """One turn: what a person said before it, the edits it makes due, the answer, its calls and their results."""
        self.turn += 1
        if step.said:
            self.say(step.said)
        self.make_room()
        if step.trouble:
            self.lose(step.trouble)
        self.open(attempt=2 if step.trouble else 1)
        self.answer(step)

    def say(self, words: str, by: str = "ada") -> None:
        message = self._message(Role.USER, Author.PERSON, Kind.SAY, [text(words)], by=by)
        self._write(ev.Said(turn=self.turn, message=message))
        self.window.append(message)

    def open(self, attempt: int = 1) -> None:
        reading = self._read()
        rendered = self.renderer.render(self.frame, self.window.entries, self.window.calls(), self.turn)
        self._write(
            ev.TurnOpened(
                turn=self.turn,
                attempt=attempt,
                frame=self.frame,
                version=self.window.version.number,
                upto=self.window.upto,
                estimate=reading.tokens,
                request_sha256=rendered.request.sha256,
            )
        )

    def lose(self, reason: str) -> None:
        self.open()
        self._write(
            ev.TurnLost(turn=self.turn, attempt=1, reason=reason, partial="The writer looks", cost=900),
            ev.LlmRetry(turn=self.turn, status=529, wait_ms=1800, tries=1),
        )

    def answer(self, step: story.Step) -> None:
        calls = [self._planned(call, at) for at, call in enumerate(step.calls)]
        blocks: list[dict[str, Any]] = []
        if step.thinking:
            blocks.append(
                {"type": "thinking", "thinking": step.thinking, "signature": sha256(step.thinking.encode())}
            )
        blocks.append(dict(text(step.words)))
        blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.input)} for c in calls]
        message = self._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, blocks, counted=Counted.USAGE)
        usage, cost = self._usage(message)
        self.gauge.learn(self.window.version.number, self.window.upto, usage, self._shown())
        self._write(
            ev.TurnAnswered(
                turn=self.turn,
                attempt=2 if step.trouble else 1,
                stop_reason="tool_use" if calls else "end_turn",
                usage=usage,
                message=message,
                calls=tuple(calls),
                first_token_ms=420 + 13 * (self.turn % 17),
                ms=2400 + 170 * (self.turn % 11),
                cost=cost,
            )
        )
        self.window.append(message)
        self._act(step, calls, cost)

    def make_room(self) -> None:
        """At the mark (60 %): clearing first, then a compaction, in turn; each with its line in the log."""
        reading = self._read()
        share = reading.tokens / self.limit
        fired = share >= 0.6
        technique = "compact" if self.cleared else "clear_results"
        if self.turn % 5 == 0 or fired:
            why = f"{share:.0%} {'≥' if fired else '<'} 60%"
            verdict = "fired" if fired else "not fired"
            check = ev.Checked(
                turn=self.turn, technique=technique, value=share, threshold=0.6, verdict=verdict, why=why
            )
            self._write(check)
        if fired and not self.cleared:
            self.clear_results()
        elif fired:
            self.compact()

    def clear_results(self, keep: int = 3) -> None:
        """Old results become markers; the newest three stay."""
        listed = list(self.window.entries)
        results = [entry.message.number for entry in listed if entry.message.kind is Kind.RESULTS]
        old = set(results[:-keep])
        items = [
            ev.Item(message=e.message.number, form=ev.Form.CLEARED if e.message.number in old else e.form)
            for e in listed
        ]
        self._edit(items, (), kind="clear_results", method="clear", reason="the mark is reached")
        self.cleared = True

    def compact(self, keep: int = 6, by: str = "", trigger: ev.Trigger = ev.Trigger.AUTO) -> None:
        """Everything but the goal, the person's messages and the tail becomes an episode."""
        listed = list(self.window.entries)
        cut = next(at for at in range(len(listed) - keep, 0, -1) if listed[at].message.kind is Kind.ANSWER)
        folded = [e.message for e in listed[:cut] if not e.message.is_persons]
        self.episodes += 1
        episode = ev.Episode(
            number=self.episodes,
            first_turn=max(1, min(message.turn for message in folded)),
            last_turn=max(message.turn for message in folded),
            text=story.EPISODE,
            ledger=story.LEDGER,
            tokens=tokens.estimate(story.EPISODE + story.LEDGER),
            folds=self.episodes - 1,
        )
        self._write(ev.CompactionStarted(turn=self.turn, edit=self.edits + 1, why="the mark is reached"))
        added = head(self.message + 1, self.turn, self.notes, 1500, episode)
        self.message += len(added)
        kept = [e.item for e in listed[:cut] if e.message.is_persons]
        items = [*kept, *(ev.Item(message=m.number) for m in added), *(e.item for e in listed[cut:])]
        usage = ev.Usage(input=2, cache_read=self._read().tokens, output=episode.tokens)
        self._edit(
            items,
            tuple(added),
            kind="compact",
            method="summary",
            reason="the mark is reached",
            episode=episode,
            usage=usage,
            cost=_cost(usage),
            ms=6400,
            by=by,
            trigger=trigger,
        )
        self.cleared = False

    def rest(self, state: str, reason: str = "") -> None:
        """Leave the run in a state; only a running one keeps its worker."""
        change = None if state == "running" else archive.StateChange(state=state, reason=reason)
        if change:
            archive.append(self.claim, state=change)
            lease.release(self.claim)

    def _act(self, step: story.Step, calls: Sequence[ev.PlannedCall], cost: int) -> None:
        """Calls that have effects are recorded around their execution, pure ones with the turn's end."""
        ended: list[ev.CallEnded] = []
        for call, given in zip(calls, step.calls, strict=True):
            end = self._ended(call, given)
            if call.effect is ev.Effect.PURE:
                ended.append(end)
                continue
            self._write(ev.CallStarted(turn=self.turn, call=call))
            self._write(end)
        for note in step.notes:
            self.notes.append(self._note(note))
            self._write(ev.NoteChanged(turn=self.turn, note=self.notes[-1]))
        if step.recalls:
            self._write(ev.Recalled(turn=self.turn, query=step.recalls, hits=2))
        self._close(calls, step, ended, cost)

    def _close(
        self, calls: Sequence[ev.PlannedCall], step: story.Step, ended: Sequence[ev.CallEnded], cost: int
    ) -> None:
        message = None
        if calls:
            blocks = [_result(call, given) for call, given in zip(calls, step.calls, strict=True)]
            message = self._message(Role.USER, Author.TOOL, Kind.RESULTS, blocks)
            self.window.append(message)
        reading = self._read()
        self._write(
            ev.TurnClosed(
                turn=self.turn,
                message=message,
                window=reading.tokens,
                limit=self.limit,
                parts=reading.parts,
                cost=cost,
                estimated=reading.estimated,
                ended=tuple(ended),
                final=not calls,
            )
        )

    def _edit(self, items: Sequence[ev.Item], added: tuple[Message, ...], **about: Any) -> None:
        before = self.window.version
        self.edits += 1
        self.version += 1
        base = max([self.window.upto, *(message.number for message in added)])
        after = ev.Version(
            number=self.version, parent=before.number, edit=self.edits, base=base, items=tuple(items)
        )
        tokens_before = self._read().tokens
        self.window.adopt(after, added)
        about.setdefault("trigger", ev.Trigger.AUTO)
        edit = ev.Edit(
            number=self.edits,
            turn=self.turn,
            before=before,
            after=after,
            added=added,
            tokens_before=tokens_before,
            tokens_after=self._read().tokens,
            **about,
        )
        self._write(ev.WindowEdited(turn=self.turn, edit=edit))

    def _message(
        self,
        role: Role,
        author: Author,
        kind: Kind,
        content: Sequence[Any],
        by: str = "",
        counted: Counted = Counted.ESTIMATE,
    ) -> Message:
        self.message += 1
        return Message(
            number=self.message,
            role=role,
            author=author,
            kind=kind,
            turn=self.turn,
            content=tuple(content),
            tokens=tokens.of_content(content),
            counted=counted,
            by=by,
        )

    def _planned(self, call: story.Call, at: int) -> ev.PlannedCall:
        made = f"toolu_{self.turn:04d}{at:02d}"
        return ev.PlannedCall(
            id=made,
            name=call.name,
            input=call.input,
            input_sha256=sha256(canonical(call.input)),
            effect=story.EFFECTS[call.name],
            key=sha256(f"{self.run.slug}:{self.turn}:{made}".encode()),
        )

    def _ended(self, call: ev.PlannedCall, given: story.Call) -> ev.CallEnded:
        size = len(given.result.encode())
        return ev.CallEnded(
            turn=self.turn,
            call=call,
            status=ev.CallStatus.ERROR if given.error else ev.CallStatus.DONE,
            result=_result(call, given),
            ms=3 + size % 900,
            bytes=size,
            tokens=tokens.estimate(given.result),
        )

    def _note(self, note: tuple[str, str]) -> ev.Note:
        number = len(self.notes) + 1
        section, words = note
        return ev.Note(
            number=number,
            revision=1,
            section=section,
            text=words,
            state="open",
            author="llm",
            by="",
            turn=self.turn,
        )

    def _usage(self, answer: Message) -> tuple[ev.Usage, int]:
        """What the provider would count: all but the tail from the cache, unless an edit has just rewritten it."""
        whole = self._read().tokens
        last = self.gauge.last
        known = last.prompt if last and last.version == self.window.version.number else int(whole * 0.3)
        read = min(known, whole - 2)
        usage = ev.Usage(
            input=2,
            cache_read=read,
            cache_write=whole - read - 2,
            output=answer.tokens,
            thinking=answer.tokens // 4,
        )
        return usage, _cost(usage)

    def _read(self) -> Any:
        return self.gauge.read(self.window.version.number, self.window.upto, self._shown())

    def _shown(self) -> list[tuple[Entry, Any]]:
        listed = entries(self.window.version, self.window.messages, self.window.upto)
        calls = self.window.calls()
        return [(entry, self.renderer.blocks(self.frame, entry, SHAPE, calls)) for entry in listed]

    def _write(self, *events: ev.Event) -> int:
        return archive.append(self.claim, *events)


def _result(call: ev.PlannedCall, given: story.Call) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": given.result}
    return {**block, "is_error": True} if given.error else block


def _cost(usage: ev.Usage) -> int:
    paid = {"input": usage.input, "output": usage.output}
    paid |= {"cache_read": usage.cache_read, "cache_write": usage.cache_write}
    return round(sum(PRICE[name] * count for name, count in paid.items()))


def runs_of_every_state(owner: Any = None) -> Iterator[Run]:
    """A short run in each state, for lists."""
    for state, reason in story.STATES:
        yield a_run(owner, turns=8, state=state, reason=reason, order="")
