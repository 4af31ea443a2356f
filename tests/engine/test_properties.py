"""W1-W12 over random histories and random chains of edits: what is sent is valid, and nothing is ever lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runs.engine.events import Edit, Form, Trigger, WindowEdited
from runs.engine.messages import Author, Kind, Role, canonical, text
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from runs.engine.window.diff import compare
from runs.engine.window.render import Renderer, model_view
from runs.engine.window.repair import Line
from runs.engine.window.validate import problems as engine_problems
from runs.engine.window.versions import entries
from tests.cases.ground import Ground, blocks_of
from tests.cases.structure import problems

from .histories import Act, chains, histories
from .stage import GOAL, add, laid, measured, said, use

REPLIES: dict[str, Any] = {
    "perfect": {
        "content": [text("Turns were walked; KEY-12: value 7; next: go on.")],
        "stop_reason": "end_turn",
    },
    "lossy": {"content": [text("Some work was done.")], "stop_reason": "end_turn"},
    "empty": {"content": [], "stop_reason": "end_turn"},
    "tool": {"content": [use("z")], "stop_reason": "tool_use"},
    "cut": {"content": [text("It was a dark and")], "stop_reason": "max_tokens"},
    "huge": {"content": [text("word " * 40_000)], "stop_reason": "end_turn"},
}
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
THINKING = st.sampled_from(["none", "adaptive", "bound"])
MANY = settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Walk:
    """A window under random acts; after each everything that must always hold is looked at."""

    def __init__(self, spoken: list[dict[str, Any]], thinking: str) -> None:
        self.ground = laid(spoken, limit=6_000, thinking=thinking, window={"mark": 0.5, "hard": 0.8})
        self.persons = [GOAL]
        self.persons += [
            m.content[0]["text"] for m in self.desk.window.messages.values() if m.kind is Kind.SAY
        ]
        self.bytes = {n: canonical(list(m.content)) for n, m in self.desk.window.messages.items()}
        self.past: list[tuple[str, Any]] = []

    @property
    def desk(self) -> Any:
        return self.ground.desk

    def act(self, act: Act) -> None:
        before, seen = self.desk.window.version, len(self.ground.events)
        held = self.desk.window.entries
        self._do(act)
        for event in self.ground.events[seen:]:
            if isinstance(event, WindowEdited):
                self.edit_holds(event.edit, bound=self.ground.llm.capability.thinking == "bound")
        if (
            act.what == "compact"
            and act.reply in ("failing", "empty", "tool", "cut", "huge")
            and act.method != "clear"
        ):
            assert self.desk.window.version is before, "W10: a failed summary changes nothing"
            assert self.desk.window.entries == held
        self.always()

    def _do(self, act: Act) -> None:
        asked = Asked(trigger=Trigger.PERSON, keep=act.keep, method=act.method, by="Ada")
        self.ground.llm.error = {"error": "overloaded"} if act.reply == "failing" else None
        self.ground.llm.replies = [REPLIES.get(act.reply, REPLIES["lossy"])]
        if act.what == "say":
            words = f"Person says more, {len(self.persons)}: " + "please " * 40
            self.persons.append(words)
            self._keep(said(self.ground, words))
        elif act.what == "turn":
            self._turn(act)
        elif act.what == "mark":
            self.desk.turn += 1
            for name in ("offload", "clear_results", "compact"):
                self.ground.take(self.ground.technique(name).before_call(self.desk.window))
            self.desk.turn -= 1
        elif act.what == "clear":
            self.ground.take(clear(self.desk, asked))
        else:
            technique = self.ground.technique("compact" if act.what == "compact" else act.what)
            verb = {"compact": "compact", "clear_results": "clear", "offload": "after_turn"}[act.what]
            given = self.desk.window if act.what == "offload" else asked
            self.ground.take(getattr(technique, verb)(given))
        self._keep(*self.desk.window.messages.values())

    def _turn(self, act: Act) -> None:
        measured(self.ground)
        self.desk.turn += 1
        for message in act.turn:
            role = Role(message["role"])
            author, kind = (
                (Author.LLM, Kind.ANSWER) if role is Role.ASSISTANT else (Author.TOOL, Kind.RESULTS)
            )
            content = [
                {**block, **({"id": f"{block['id']}_{self.desk.turn}"} if "id" in block else {})}
                | (
                    {"tool_use_id": f"{block['tool_use_id']}_{self.desk.turn}"}
                    if "tool_use_id" in block
                    else {}
                )
                for block in blocks_of(message)
            ]
            self._keep(add(self.ground, role, author, kind, content))

    def _keep(self, *messages: Any) -> None:
        for message in messages:
            self.bytes.setdefault(message.number, canonical(list(message.content)))

    def edit_holds(self, edit: Edit, *, bound: bool) -> None:
        known = self.desk.window.messages
        assert edit.tokens_after < edit.tokens_before, "W9"
        shown = entries(edit.after, known, edit.after.base)
        before = entries(edit.before, known, edit.after.base - len(edit.added))
        if bound:
            same = next(
                (at for at, (a, b) in enumerate(zip(before, shown, strict=False)) if a.item != b.item), None
            )
            behind = shown[same + 1 :] if same is not None else ()
            naked = [e for e in behind if e.message.kind is Kind.ANSWER and e.form is Form.FULL]
            for entry in naked:
                assert not any("thinking" in block["type"] for block in entry.message.content), "W5"
        both = [*before, *shown]
        sizes = {
            (e.message.number, e.form): size for e, size in zip(both, self.desk.sizes(both), strict=True)
        }
        rows = compare(
            [e.item for e in before],
            [e.item for e in shown],
            kinds={n: m.kind for n, m in known.items()},
            edit=edit.kind,
            sizes=sizes,
        )
        assert len(rows) == len({row.message for row in rows}), "an entry in two classes"
        assert {row.message for row in rows} == {e.message.number for e in (*before, *shown)}
        assert sum(row.tokens_before for row in rows) == sum(self.desk.sizes(before))
        assert sum(row.tokens_after for row in rows) == sum(self.desk.sizes(shown))

    def always(self) -> None:
        desk = self.desk
        rendered = desk.renderer.render(desk.frame, desk.window.entries, desk.window.calls(), 1)
        body = json.loads(rendered.request.body)
        assert problems(body["messages"]) == []
        sent = [Line(role=Role(m["role"]), blocks=tuple(m["content"])) for m in body["messages"]]
        assert engine_problems(sent) == []
        assert rendered.request.body == canonical(body), "the bytes are canonical"
        fresh = Renderer(desk.slug).render(desk.frame, desk.window.entries, desk.window.calls(), 1)
        again = model_view(desk.frame, desk.window.entries, desk.history.messages, desk.slug, 1)
        assert fresh.request.body == rendered.request.body == again.request.body, "W12"
        assert sum(spot is not None for spot in _marks(body)) <= 4, "W4"
        self.person_stands(body)
        self.kept_byte_for_byte(rendered.request.body, rendered.repairs)
        for number, data in self.bytes.items():
            assert canonical(list(desk.history.message(number).content)) == data, "W11"
        reading = desk.read()
        assert sum(reading.parts.values()) == reading.tokens, "parts add up"

    def person_stands(self, body: dict[str, Any]) -> None:
        """W8: the goal and all a person said, verbatim; the oldest as previews only beyond a tenth of the limit."""
        blocks = [block for m in body["messages"] if m["role"] == "user" for block in m["content"]]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        previews = [e for e in self.desk.window if e.form is Form.PREVIEW and e.message.kind is Kind.SAY]
        missing = [words for words in self.persons if words not in texts]
        assert len(missing) <= len(previews)
        assert GOAL not in missing

    def kept_byte_for_byte(self, data: bytes, repairs: tuple[str, ...]) -> None:
        """A message that stands in full is sent as it was written, but for what may never be sent."""
        if repairs:
            return
        for entry in self.desk.window:
            for block in entry.message.content if entry.form is Form.FULL else ():
                if block["type"] == "tool_use":
                    assert canonical(block) in data
                if block["type"] == "text" and block["text"].strip():
                    assert canonical(block)[:-1].split(b'"text":', 1)[1] in data


def _marks(body: dict[str, Any]) -> list[Any]:
    spots = [*body.get("system", []), *body.get("tools", [])]
    spots += [block for message in body["messages"] for block in message["content"]]
    return [spot.get("cache_control") for spot in spots if spot.get("cache_control")]


@MANY
@given(histories(), chains(), THINKING)
def test_whatever_is_done_to_a_window_it_can_be_sent_and_nothing_is_lost(
    spoken: list[dict[str, Any]], chain: list[Act], thinking: str
) -> None:
    walk = Walk(spoken, thinking)
    walk.always()
    for act in chain:
        walk.act(act)


@MANY
@given(histories(), THINKING)
def test_summaries_are_asked_with_a_valid_request_that_fits(
    spoken: list[dict[str, Any]], thinking: str
) -> None:
    ground: Ground = laid(spoken, thinking=thinking, replies=["Short."], episode={"tokens": 200})
    ground.take(ground.technique("compact").compact(Asked(keep=0)))
    for request in ground.llm.asked:
        assert problems(json.loads(request.body)["messages"]) == []


@MANY
@given(histories(), st.lists(st.sampled_from(["ok", "trouble"]), max_size=4))
def test_a_summariser_that_may_fail_never_costs_a_message(
    spoken: list[dict[str, Any]], luck: list[str]
) -> None:
    ground = laid(spoken, replies=["Short."])
    goal = ground.request()["messages"][0]["content"][0]["text"]
    for word in luck:
        ground.llm.error = {"error": "overloaded"} if word == "trouble" else None
        ground.take(ground.technique("compact").compact(Asked()))
    assert ground.request()["messages"][0]["content"][0]["text"] == goal
