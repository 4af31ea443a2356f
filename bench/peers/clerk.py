"""The stand-in of one run: plays the job to any client, and writes down what it came to."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runs.engine.events import Usage
from runs.engine.llm.rehearsal import count
from runs.engine.llm.rehearsal.cache import Account, PrefixCache
from runs.engine.llm.rehearsal.count import Element, blocks_of
from runs.engine.llm.rehearsal.personality import Fault
from runs.engine.llm.rehearsal.play import answer, call_id
from runs.engine.llm.rehearsal.script import Call, Step
from runs.engine.llm.rehearsal.scripts import job
from runs.engine.llm.rehearsal.standin import StandIn
from runs.engine.llm.rehearsal.stream import whole
from runs.engine.llm.rehearsal.summarise import ORDER, summarise
from runs.engine.llm.rehearsal.wire import ApiError, Asked, Invalid, Place, Reply, Said, once, place_of

SUMMARY_SIGNS = ("Context Extraction Assistant", "tasked with summarizing conversations")
"""How deepagents' and inspect-ai's own prompts for a summary begin."""

NO_TOOL = {"name": "none", "input_schema": {"type": "object"}}
"""For a request without tools on a history with calls: the stand-in refuses it, the API of today seems not to."""

_OF_TURN = re.compile(r"toolu_(\d{4})")
_JSON = {"content-type": "application/json", "request-id": "req_rehearsal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The job: so many turns, `width` reads a turn; `wide` characters in a tool input every tenth turn (0: none).

    `tool` reads a piece. `fault` is a fault of the rehearsal; `context` is the most tokens of a request.
    """

    turns: int = 300
    width: int = 1
    wide: int = 0
    tool: str = "read_piece"
    fault: str = ""
    context: int = 100_000

    @property
    def pieces(self) -> int:
        return self.turns * self.width

    def step(self, turn: int) -> Step:
        if turn > self.turns:
            return Step(says=f"All {self.pieces} pieces are read.")
        first = (turn - 1) * self.width + 1
        names = [job.name_of(number) for number in range(first, first + self.width)]
        calls = [Call(name=self.tool, input={"path": name}) for name in names]
        if self.wide and turn % 10 == 0:
            text = ("The valve was looked at again today. " * (self.wide // 37 + 1))[: self.wide]
            calls.append(Call(name="write_file", input={"path": "report.txt", "content": text}))
        return Step(says=f"Turn {turn} of {self.turns}.", calls=tuple(calls))


@dataclass(slots=True)
class Books(PrefixCache):
    """What was asked and paid; `last` are the messages of the newest request of a turn."""

    usage: Usage = Usage()
    turn: int = 0
    answered: int = 0
    summaries: int = 0
    bad_summaries: int = 0
    longest: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    last: Sequence[Any] = ()

    def __post_init__(self) -> None:
        PrefixCache.__init__(self)

    def account(self, body: Mapping[str, Any], elements: Sequence[Element]) -> Account:
        account = PrefixCache.account(self, body, elements)
        self.answered += 1
        self.usage += Usage(
            input=account.input,
            cache_read=account.read,
            cache_write=account.written,
            cache_write_1h=account.written_1h,
        )
        self.longest = max(self.longest, account.input + account.read + account.written)
        return account

    def pay(self, said: Said) -> int:
        output = sum(count.block(block) for block in said.content)
        self.usage += Usage(output=output)
        return output


class Clerk(StandIn):
    """One run's stand-in."""

    def __init__(self, work: Work) -> None:
        super().__init__(pace="none")
        self.work = work
        self.books = self._cache = Books()
        self.counted = 0

    async def answer(self, asked: Asked) -> Reply:
        named = {**asked.headers, "x-rehearsal": f"job-{self.work.pieces}" + self._faults()}
        return await super().answer(replace(asked, headers=named))

    def _faults(self) -> str:
        return f"+{self.work.fault}" if self.work.fault else ""

    def _answer(self, asked: Asked) -> Reply:
        try:
            return super()._answer(asked)
        except ApiError as error:
            self.books.refused[f"{error.status} {str(error)[:60]}"] += 1
            raise

    def _message(self, asked: Asked) -> Reply:
        body = json.loads(asked.body)
        order = body.pop("compaction", None)
        edits = (body.pop("context_management", None) or {}).get("edits", [])
        body.pop("thread", None)
        body["messages"] = list(_unfolded(body["messages"]))
        body["metadata"] = {"user_id": self._place(body)}
        if not body.get("tools"):
            body["tools"] = [NO_TOOL]
        if order is not None:
            return self._folded(body, asked)
        marks = [edit["trigger"]["value"] for edit in edits if edit["type"].startswith("compact_")]
        if marks and count.total(body) > marks[0] and len(body["messages"]) > 1:
            return self._folded_on_the_way(body, asked)
        return super()._message(replace(asked, body=json.dumps(body).encode()))

    def _count(self, asked: Asked) -> Reply:
        body = json.loads(asked.body)
        body["messages"] = list(_unfolded(body["messages"]))
        self.counted += 1
        return Reply(status=200, headers=_JSON, body=once({"input_tokens": count.total(body)}))

    def _place(self, body: Mapping[str, Any]) -> str:
        """Ours says where it is; of the others the newest result tells, or what was answered last."""
        given = place_of(body)
        if ":" in str((body.get("metadata") or {}).get("user_id")):
            return f"{given.slug}:{given.turn}" + (":summary" if given.summary else "")
        text = json.dumps(body["messages"][-1])
        if any(sign in text for sign in SUMMARY_SIGNS):
            return f"r-peer0:{self.books.turn + 1}:summary"
        found = _OF_TURN.findall(text)
        return f"r-peer0:{int(found[-1]) + 1 if found else self.books.turn + 1}"

    def _turn(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        turn = super()._turn(body, headers)
        total = sum(element.tokens for element in turn.elements)
        if total > self.work.context:
            raise Invalid(f"prompt is too long: {total} tokens > {self.work.context} maximum")
        return turn

    def _said(self, turn: Any, fault: Fault | None) -> Said:
        if turn.place.summary:
            self.books.summaries += 1
            self.books.bad_summaries += fault is not None and fault.name != "summary_lossy"
            said = super()._said(turn, fault)
        else:
            self.books.turn = turn.place.turn
            self.books.last = turn.body["messages"]
            said = answer(turn.place, self.work.step(turn.place.turn))
        self.books.pay(said)
        return said

    def _folded(self, body: dict[str, Any], asked: Asked) -> Reply:
        """The API's compaction on demand: one block, or one without content when it failed."""
        text = self._summary(body, asked)
        usage = {**self.books_of(body), "output_tokens": count.text(text or "")}
        return _whole(body, Said(content=(_block(text),), stop_reason="compaction"), usage)

    def _folded_on_the_way(self, body: dict[str, Any], asked: Asked) -> Reply:
        """The API's compaction by itself: its block, then the answer to what is left."""
        text = self._summary(body, asked)
        left = (
            {**body, "messages": list(_unfolded([{"role": "assistant", "content": [_block(text)]}]))}
            if text
            else body
        )
        place = place_of(body)
        turn = self._turn(left, asked.headers)
        said = self._said(turn, None)
        usage = {**self._cache.account(left, turn.elements).usage(), "output_tokens": count.text(text or "")}
        return _whole(
            body, Said(content=(_block(text), *said.content), stop_reason=said.stop_reason), usage, place
        )

    def books_of(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "input_tokens": count.total(body),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }

    def _summary(self, body: dict[str, Any], asked: Asked) -> str | None:
        """What it says, None where it fails; paid like a request of its own on the same prefix."""
        self._cache.account(body, count.elements(body))
        asking = {**body, "metadata": {"user_id": f"r-peer0:{self.books.turn + 1}:summary"}}
        turn = self._turn(asking, asked.headers)
        fault = self._acting(turn)
        self.books.summaries += 1
        if fault and fault.name != "summary_lossy":
            self.books.bad_summaries += 1
            return None
        last = {"role": "user", "content": [{"type": "text", "text": f"{ORDER}."}]}
        text = summarise({**body, "messages": [*body["messages"], last]})
        kept = text.splitlines()[::2] if fault else text.splitlines()
        self.books.pay(Said(content=({"type": "text", "text": text},), stop_reason="end_turn"))
        return "\n".join(kept)

    def _acting(self, turn: Any) -> Fault | None:
        from runs.engine.llm.rehearsal.personality import acting, refuse

        fault = acting(turn.personality, turn.place, self._tries)
        if fault:
            refuse(fault)
        return fault


def _block(text: str | None) -> dict[str, Any]:
    return {"type": "compaction", "content": text, "signature": "c2lnbmVk"}


def _unfolded(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """What the API sees: everything before the newest compaction block is gone, the block is text."""
    at = max((n for n, message in enumerate(messages) if _compaction(message)), default=-1)
    for message in messages[max(at, 0) :]:
        found = _compaction(message)
        if found:
            yield {"role": "user", "content": [{"type": "text", "text": found}]}
        rest = [block for block in blocks_of(message["content"]) if block.get("type") != "compaction"]
        if rest:
            yield {"role": message["role"], "content": rest}


def _compaction(message: Mapping[str, Any]) -> str:
    for block in blocks_of(message["content"]):
        if block.get("type") == "compaction":
            return str(block.get("content") or "")
    return ""


def _whole(
    body: Mapping[str, Any], said: Said, usage: Mapping[str, Any], place: Place | None = None
) -> Reply:
    head = {
        "id": f"msg_{call_id(place or place_of(body), 9)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "stop_sequence": None,
    }
    return Reply(status=200, headers=_JSON, body=once(whole(said, head, usage)))
