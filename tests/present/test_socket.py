"""What the socket sends: the page's fragments, each where it belongs, and never more than a page needs."""

from __future__ import annotations

import json
import re

from runs.engine import events as ev
from runs.models import Order
from runs.present import feed, socket
from runs.present.now import Now
from runs.store import archive, sql
from tests import story
from tests.present.conftest import READ, RED, Scene


def _sent(scene: Scene, after: int) -> list[dict]:
    return socket.items(Now(run=scene.fresh), scene.events(after))


def _html(items: list[dict]) -> str:
    return "".join(item.get("html", "") for item in items)


def test_there_is_one_item_an_event_in_order(scene: Scene) -> None:
    scene.turns(2, READ)
    events = scene.events()
    items = socket.items(Now(run=scene.fresh), events)
    assert [(item["seq"], item["kind"], item["turn"]) for item in items] == [
        (e.seq, e.kind, e.turn) for e in events
    ]
    assert json.loads(json.dumps(items)) == items


def test_an_answer_brings_its_rows_and_ends_the_typing(scene: Scene) -> None:
    scene.turns(1)
    seen = scene.seq
    scene.turns(1, READ, words="I look.")
    answered = next(item for item in _sent(scene, seen) if item["kind"] == "turn.answered")
    assert 'hx-swap-oob="beforeend:#feed-rows"' in answered["html"]
    assert '<div id="typing" hx-swap-oob="innerHTML"></div>' in answered["html"]
    assert "I look." in answered["html"]


def test_a_call_that_ended_replaces_its_row(scene: Scene) -> None:
    seen = scene.seq
    scene.turns(1, RED)
    ended = next(item for item in _sent(scene, seen) if item["kind"] == "call.ended")
    assert re.search(r'<details class="fr-open err" id="e-2-1"[^>]*hx-swap-oob="true"', ended["html"])


def test_a_closed_turn_brings_its_point(scene: Scene) -> None:
    scene.turns(1, READ)
    closed = next(item for item in _sent(scene, 0) if item["kind"] == "turn.closed")
    assert closed["point"]["turn"] == 1
    assert sum(closed["point"]["parts"].values()) == closed["point"]["window"]


def test_a_compaction_changes_the_words_on_the_rows_it_folded(scene: Scene) -> None:
    scene.turns(9, READ)
    seen = scene.seq
    scene.compact()
    items = _sent(scene, seen)
    edited = next(item for item in items if item["kind"] == "window.edited")
    assert edited["edit"]["kind"] == "compaction"
    assert '<div id="e-edit-1" hx-swap-oob="delete"></div>' in edited["html"]
    folded = [row for row in feed.newest(scene.fresh).rows if row.tag and row.tag.out]
    assert folded
    for row in folded:
        assert f'id="{row.tag_id}" hx-swap-oob="true"' in edited["html"]


def test_an_order_and_its_answer_reach_chips_and_answers(scene: Scene) -> None:
    order = Order.objects.create(run=scene.run, kind="pause", by="ada", at=sql.now(), client_key="k")
    seen = (
        archive.announce(
            scene.run.pk, "order.asked", {"order": order.pk, "kind": "pause", "state": "pending"}
        )
        - 1
    )
    assert f'id="chip-{order.pk}"' in _html(_sent(scene, seen))
    seen = scene.seq
    archive.append(scene.claim, answers=[archive.OrderAnswer(order_id=order.pk, state="applied")])
    html = _html(_sent(scene, seen))
    assert f'id="answer-{order.pk}"' in html
    assert f'id="chip-{order.pk}"' not in html


def test_a_state_change_brings_pill_banner_and_buttons(scene: Scene) -> None:
    scene.turns(1)
    seen = scene.seq
    archive.append(
        scene.claim, state=archive.StateChange(state="waiting", reason="llm: 401 The key is not valid.")
    )
    html = _html(_sent(scene, seen))
    assert "Llm refuses" in html
    assert 'id="banner" class="banner wait" hx-swap-oob="true"' in html
    assert "Retry" in html


def test_what_is_drawn_once_comes_with_the_last_item(scene: Scene) -> None:
    scene.turns(3, READ)
    items = _sent(scene, 0)
    assert sum('id="vitals"' in item.get("html", "") for item in items) == 1
    assert 'id="vitals"' in items[-1]["html"]


def test_a_check_alone_draws_nothing(scene: Scene) -> None:
    seen = scene.seq
    scene.tell(
        ev.Checked(technique="compact", value=0.3, threshold=0.6, verdict="not fired", why="30 % < 60 %")
    )
    assert "html" not in _sent(scene, seen)[0]


def test_a_snapshot_draws_the_page_anew(scene: Scene) -> None:
    scene.turns(3, READ)
    html = socket.snapshot(Now(run=scene.fresh))
    for name in ("feed-live", "vitals", "banner", "chips", "controls", "count-notes"):
        assert re.search(rf'id="{name}"[^>]*hx-swap-oob="true"', html), name
    assert html.count('id="feed-rows"') == 1


def test_a_snapshot_stays_small_whatever_the_llm_writes(scene: Scene) -> None:
    long = "<b>&</b> " * 200
    calls = [
        story.Call(name="run_command", input={"command": f"echo {long}"}, result=long * 3, error=True)
        for _ in range(16)
    ]
    for _ in range(14):
        scene.take(story.Step(words=long, calls=tuple(calls), thinking=long))
    assert len(socket.snapshot(Now(run=scene.fresh)).encode()) <= 200_000


def test_fragments_carry_no_inline_style_and_no_handler(scene: Scene) -> None:
    scene.turns(9, READ, thinking="<b onclick=x>")
    scene.compact()
    scene.turns(1, RED)
    html = socket.snapshot(Now(run=scene.fresh)) + _html(_sent(scene, 0))
    assert not re.search(r"<[^>]*\s(style|on\w+)=", html)
    assert "<script" not in html
