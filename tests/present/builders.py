"""Runs for the pages to show, written through the archive's own door: what an agent at work leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.contrib.auth import get_user_model

from runs.engine import policy, tokens
from runs.engine.events import (
    PARTS,
    CallEnded,
    CallStarted,
    CallStatus,
    Checked,
    CompactionStarted,
    Edit,
    Effect,
    Episode,
    Event,
    Form,
    Frame,
    Item,
    Note,
    NoteChanged,
    PlannedCall,
    Said,
    Trigger,
    TurnAnswered,
    TurnClosed,
    TurnOpened,
    Usage,
    Version,
    WindowEdited,
)
from runs.engine.messages import Author, Block, Kind, Message, Role, canonical, sha256, text
from runs.engine.window.forms import Shape
from runs.engine.window.render import frame_of
from runs.models import Run
from runs.store import archive, lease

GOAL = (
    "Orders are double-booked when two customers reserve the last item at once. "
    "Find the cause, fix it in `src/orders`, and prove it with the race test. Do not change the public API."
)
LIMIT = 24_000
TOOLS = tuple(
    {"name": name, "description": f"Does {name.replace('_', ' ')}.", "input_schema": {"type": "object"}}
    for name in ("list_files", "read_file", "write_file", "edit_file", "search_files", "run_command", "take_note")
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A call of a scripted turn and what came back."""

    name: str
    given: dict[str, str]
    result: str
    error: bool = False
    ms: int = 120


@dataclass(kw_only=True)
class Agent:
    """Writes a run turn by turn, counting as the engine counts: enough of it for pages, none of its decisions."""

    run: Run
    claim: lease.Claim
    frame: Frame
    messages: dict[int, Message] = field(default_factory=dict)
    version: Version = field(
        default_factory=lambda: Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),))
    )
    turn: int = 0
    edits: int = 0
    episode: Episode | None = None
    last_prompt: int = 0

    @classmethod
    def on(cls, goal: str = GOAL, title: str = "Double-booked orders under retry", preset: str = "demo", limit: int = LIMIT, slug: str = "") -> Agent:
        owner, _ = get_user_model().objects.get_or_create(username="local")
        rules = policy.preset(preset).changed(window={"limit": limit})
        message = Message(number=1, role=Role.USER, author=Author.PERSON, kind=Kind.GOAL, turn=0, content=(text(goal),), tokens=tokens.estimate(goal), by="local")
        new = archive.NewRun(
            owner_id=owner.pk, goal=message, title=title, llm="rehearsal", workspace="/home/ada/orders-service",
            slug=slug or archive.new_slug(), policy=rules.model_dump(mode="json"), limit=limit,
        )
        run = archive.create(new)
        claim = lease.claim(run.pk, "worker-2")
        assert claim is not None
        shape = Shape(result_tokens=3600, message_tokens=7200, head_lines=12, tail_lines=12, key_lines=4, exclude=())
        frame = frame_of(llm="rehearsal", system="You are an agent. " * 90, tools=TOOLS, params={"max_tokens": 4096}, shape=shape)
        return cls(run=run, claim=claim, frame=frame, messages={1: message})

    def write(self, *events: Event) -> None:
        archive.append(self.claim, *events)

    def message(self, role: Role, author: Author, kind: Kind, content: Sequence[Block], by: str = "") -> Message:
        number = max(self.messages) + 1
        message = Message(number=number, role=role, author=author, kind=kind, turn=self.turn, content=tuple(content), tokens=tokens.of_content(content), by=by)
        self.messages[number] = message
        return message

    def open(self) -> None:
        self.turn += 1
        sha = sha256(f"{self.run.slug}{self.turn}".encode())
        upto = max(self.messages)
        self.write(TurnOpened(turn=self.turn, attempt=1, frame=self.frame, version=self.version.number, upto=upto, estimate=sum(self.parts().values()), request_sha256=sha))

    def answer(self, thought: str = "", said: str = "", calls: Sequence[Asked] = ()) -> list[PlannedCall]:
        content: list[Block] = []
        if thought:
            content.append({"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"})
        if said:
            content.append(text(said))
        planned = [self._planned(at, call) for at, call in enumerate(calls)]
        content += [{"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)} for call in planned]
        prompt = sum(self.parts().values())
        read = min(self.last_prompt, prompt) if self.last_prompt else 0
        message = self.message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, content)
        usage = Usage(input=12, output=message.tokens, cache_read=read, cache_write=max(0, prompt - read - 12), thinking=0)
        self.last_prompt = prompt
        cost = usage.input * 3 + usage.output * 15 + round(usage.cache_read * 0.3 + usage.cache_write * 3.75)
        self.write(TurnAnswered(turn=self.turn, attempt=1, stop_reason="tool_use" if calls else "end_turn", usage=usage, message=message, calls=tuple(planned), first_token_ms=420, ms=6100, cost=cost))
        self.cost = cost
        return planned

    def close(self, planned: Sequence[PlannedCall], calls: Sequence[Asked], final: bool = False) -> None:
        blocks: list[Block] = []
        for call, asked in zip(planned, calls, strict=True):
            block: dict[str, object] = {"type": "tool_result", "tool_use_id": call.id, "content": asked.result}
            if asked.error:
                block["is_error"] = True
            blocks.append(block)
            status = CallStatus.ERROR if asked.error else CallStatus.DONE
            size = tokens.of_block(block)
            self.write(CallStarted(turn=self.turn, call=call))
            self.write(CallEnded(turn=self.turn, call=call, status=status, result=block, ms=asked.ms, bytes=len(asked.result), tokens=size))
        message = self.message(Role.USER, Author.TOOL, Kind.RESULTS, blocks) if blocks else None
        parts = self.parts()
        self.write(TurnClosed(turn=self.turn, message=message, window=sum(parts.values()), limit=LIMIT, parts=parts, cost=self.cost, estimated=True, final=final))

    def step(self, thought: str = "", said: str = "", *calls: Asked, final: bool = False) -> None:
        self.open()
        planned = self.answer(thought, said, calls)
        self.close(planned, calls, final)

    def say(self, words: str, by: str = "local") -> None:
        message = self.message(Role.USER, Author.PERSON, Kind.SAY, [text(words)], by=by)
        self.write(Said(turn=self.turn, message=message))

    def note(self, number: int, section: str, words: str, state: str = "open", revision: int = 1) -> None:
        note = Note(number=number, revision=revision, section=section, text=words, state=state, author="llm", by="", turn=self.turn)
        self.write(NoteChanged(turn=self.turn, note=note))

    def checked(self, technique: str = "compact", at: float = 0.6) -> None:
        share = sum(self.parts().values()) / LIMIT
        why = f"{share * 100:.0f} % < {at * 100:.0f} %"
        self.write(Checked(turn=self.turn, technique=technique, value=share, threshold=at, verdict="not fired", why=why))

    def clear_results(self, keep: int = 3) -> None:
        entries = self._entries()
        results = [item.message for item in entries if self.messages[item.message].kind is Kind.RESULTS]
        old = set(results[:-keep])
        items = [Item(message=item.message, form=Form.CLEARED) if item.message in old else item for item in entries]
        self._edit("clear_results", "clear", items, (), None)

    def offload(self) -> None:
        entries = self._entries()
        last = max(entry.message for entry in entries)
        items = [Item(message=item.message, form=Form.PREVIEW) if item.message == last else item for item in entries]
        self._edit("offload", "offload", items, (), None)

    def compact(self, words: str, trigger: Trigger = Trigger.AUTO, keep: int = 6) -> None:
        entries = self._entries()
        tail = [item for item in entries[-keep:] if self.messages[item.message].kind is not Kind.SAY]
        while tail and self.messages[tail[0].message].kind is not Kind.ANSWER:
            tail = tail[1:]
        self.write(CompactionStarted(turn=self.turn, edit=self.edits + 1, why="61 % ≥ 60 %"))
        first = self.episode.last_turn + 1 if self.episode else 1
        number = self.episode.number + 1 if self.episode else 1
        episode = Episode(number=number, first_turn=first, last_turn=self.turn - 3, text=words, ledger="files: src/orders/reserve.py", tokens=tokens.estimate(words), folds=number - 1, scores={"identifiers": 0.91})
        summary = self.message(Role.USER, Author.PRODUCT, Kind.EPISODE, [text(f'<summary turns="1-{self.turn}">{words}</summary>')])
        persons = [item for item in entries if self.messages[item.message].author is Author.PERSON]
        items = [*persons, Item(message=summary.number), *tail]
        self._edit("compaction", "summary", items, (summary,), episode, trigger)
        self.episode = episode

    def _edit(self, kind: str, method: str, items: Sequence[Item], added: Sequence[Message], episode: Episode | None, trigger: Trigger = Trigger.AUTO) -> None:
        before = sum(self.parts().values())
        self.edits += 1
        base = max(self.messages)
        after = Version(number=self.version.number + 1, parent=self.version.number, edit=self.edits, base=base, items=tuple(items))
        old, self.version = self.version, after
        edit = Edit(
            number=self.edits, kind=kind, method=method, trigger=trigger, turn=self.turn, before=old, after=after, added=tuple(added),
            tokens_before=before, tokens_after=sum(self.parts().values()), episode=episode, by="local" if trigger is Trigger.PERSON else "",
            reason="61 % ≥ 60 %" if trigger is Trigger.AUTO else "", usage=Usage(input=900, output=300) if episode else Usage(), cost=88_000 if episode else 0, ms=11_800 if episode else 0,
        )
        self.write(WindowEdited(turn=self.turn, edit=edit))
        self.last_prompt = 0

    def _entries(self) -> list[Item]:
        later = [Item(message=number) for number in self.messages if number > self.version.base]
        return [*self.version.items, *later]

    def parts(self) -> dict[str, int]:
        parts = dict.fromkeys(PARTS, 0)
        parts["system"] = tokens.of_content(self.frame.system)
        parts["tools"] = sum(tokens.estimate(str(tool)) for tool in self.frame.tools)
        for item in self._entries():
            message = self.messages[item.message]
            kinds = {Kind.GOAL: "person", Kind.SAY: "person", Kind.EPISODE: "episodes", Kind.NOTES: "notes", Kind.RESULTS: "results"}
            for block in message.content:
                size = tokens.of_block(block)
                part = kinds.get(message.kind, "thinking" if block["type"] == "thinking" else "assistant")
                if item.form is not Form.FULL and part == "results":
                    part, size = "stubs", min(size, 60)
                parts[part] += size
        return parts

    def _planned(self, at: int, asked: Asked) -> PlannedCall:
        digest = sha256(canonical(asked.given))
        key = sha256(f"{self.run.slug}{self.turn}{at}".encode())
        effect = Effect.EFFECTFUL if asked.name == "run_command" else Effect.PURE
        return PlannedCall(id=f"toolu_{self.turn}_{at}", name=asked.name, input=asked.given, input_sha256=digest, effect=effect, key=key)


def listing(lines: int, word: str = "reserve") -> str:
    return "\n".join(f"{at:4d}  def {word}_{at}(self, order, item):  # {word} under lock {at % 7}" for at in range(1, lines))


def a_long_run(turns: int = 40, **about: str) -> Agent:
    """A run that reads, tests, edits and fails, is compacted where it reaches the mark, and is still at work."""
    agent = Agent.on(**about)
    paths = ("src/orders/reserve.py", "src/lib/tx.py", "tests/test_race.py", "src/orders/checkout.py")
    for at in range(1, turns + 1):
        path = paths[at % 4]
        if at == 9:
            agent.say("Also check the idempotency key path, please.")
        if at % 7 == 3:
            command = Asked(name="run_command", given={"command": "python -m unittest tests.test_race -v"}, result="FAIL: test_race\nAssertionError: expected 1 reservation for SKU-4471, received 2\n  tests/test_race.py:88 in reserve\nexit 1", error=True, ms=9700)
            agent.step("One failure in 500 is not noise: the retry timer fires inside the transaction, so both see the old row.", "", command)
        elif at % 7 == 5:
            agent.step("", "The lock is taken after the read. **Moving it in front** of the read closes the window.", Asked(name="edit_file", given={"path": path, "old": "a\nb\nc", "new": "a\nb\nlock()\nc\nd"}, result="Edited."))
        elif at % 7 == 6:
            agent.step("", "", Asked(name="take_note", given={"section": "decisions", "text": f"Row lock with FOR UPDATE in {path}"}, result="Note taken."))
            agent.note(at, ("decisions", "pending", "facts", "errors")[at % 4], f"Row lock with FOR UPDATE in {path}", "done" if at % 3 == 0 else "open")
        else:
            agent.step("I should read the neighbours first." if at % 2 else "", "", Asked(name="read_file", given={"path": path}, result=listing(30 + at % 5 * 8)), Asked(name="search_files", given={"pattern": "withTx"}, result=listing(8, "tx")))
        share = sum(agent.parts().values()) / LIMIT
        if share < 0.6:
            agent.checked("clear_results")
            agent.checked("compact")
        elif agent.edits % 3 == 0:
            agent.clear_results()
        else:
            agent.compact("Root cause found: the lock is taken after the read. Decision: row lock with FOR UPDATE. Race still seen in 1 of 500; retry path and two callers are the suspects.")
        if at == 12:
            agent.offload()
    agent.run.refresh_from_db()
    return agent
