"""Search: what is found, by which words, and where the line is now."""

from __future__ import annotations

import pytest

from runs.engine import events as ev
from runs.engine.messages import Author, Kind, Message, Role, text
from runs.models import Edit, Run
from runs.store import archive, folding, index, lease, search
from tests.builders import Building, a_person, a_run

pytestmark = pytest.mark.django_db


def holding(*lines: str) -> Run:
    """A run in which a person wrote these lines, each as a message."""
    made = Building.start(a_person(), limit=24_000, goal="Nothing to find here.", title="t", llm="rehearsal")
    for line in lines:
        made.say(line)
    return made.run


def numbers(query: str, run: Run | None = None) -> list[int]:
    return sorted(found.message for found in search.find(query, run=run))


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("The QUICK brown fox", "quick"),
        ("The quick brown fox", "Fox QUICK"),
        ("Straße nach Zürich", "strasse zurich"),
        ("naïve café", "NAIVE CAFE"),
        ("naive cafe", "naïve café"),
        ("ﬁle № ① Ｆｕｌｌ", "file 1 full"),
        ("我们发现了数据竞争问题", "竞争"),
        ("我们发现了数据竞争问题", "数据竞争"),
        ("我们发现了数据竞争问题", "题"),
        ("パスワードを変更してください", "変更"),
        ("서울에서 부산까지", "부산"),
        ("see src/orders/stock_service.py:41", "stock_service.py"),
        ("see src/orders/stock_service.py:41", "src/orders/stock_service.py"),
        ("see src/orders/stock_service.py:41", "orders"),
        ("see src/orders/stock_service.py:41", "stock service"),
        ("class OrderServiceError(Exception):", "OrderServiceError"),
        ("class OrderServiceError(Exception):", "order service error"),
        ("class OrderServiceError(Exception):", "orderserviceerror"),
        ("parseHTTPResponse()", "http response"),
        ("see src/OrderService.py", "src/orderservice.py"),
        ("see src/orderservice.py", "src/OrderService.py"),
        ("MAX_RETRY_COUNT = 3", "max_retry"),
        ("MAX_RETRY_COUNT = 3", "retry"),
        ("the flag --no-cache-dir", "no-cache-dir"),
        ("a-b", "a-b"),
        ("x-a-b-y", "a-b"),
        ("call foo( now", "foo("),
        ('he said "stop"', '"stop"'),
        ("it's O'Brien", "O'Brien"),
        ("version 3.11.7", "3.11.7"),
        ("привет, мир", "МИР"),
        ("error 41 != 40", "41 != 40"),
        (r"C:\temp\new", r"temp\new"),
    ],
)
def test_a_line_is_found_by(line: str, query: str) -> None:
    assert numbers(query, holding(line)) == [2]


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("The quick brown fox", "quack"),
        ("The quick brown fox", "quick wolf"),
        ("我们发现了数据竞争问题", "竞数"),
        ("がんばる", "かんはる"),
        ("service of stock", "stock_service"),
        ("nothing", ""),
        ("nothing", "  ( ) \" ' * : ^ "),
    ],
)
def test_a_line_is_not_found_by(line: str, query: str) -> None:
    assert numbers(query, holding(line)) == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "a AND",
        "NOT",
        "NEAR(a b)",
        "col:x",
        "*",
        "a*",
        "(((",
        "'; DROP TABLE runs_run; --",
        "\\",
        "x" * 5000,
        "% _ %s",
    ],
)
def test_any_text_is_a_query(query: str) -> None:
    search.find(query, run=holding("harmless"))


def test_what_was_asked_of_tools_given_back_and_thought_is_found_too() -> None:
    run = a_run(turns=8, order="")
    assert {hit.kind for hit in search.find("cursor_step_7", run=run)} == {"results"}
    assert {hit.kind for hit in search.find("edit_file export/cursor.py", run=run)} == {"answer"}
    assert {hit.kind for hit in search.find("strict and loses nothing", run=run)} == {"answer"}
    assert search.find("bank's import depends", run=run)[0].message == 1


def test_the_better_hit_comes_first() -> None:
    run = holding("race " + "and much else " * 200, "race race race")
    assert [hit.message for hit in search.find("race", run=run)] == [3, 2]


def test_a_run_is_searched_alone_a_person_only_in_her_own_runs() -> None:
    first, second = holding("a common word"), holding("a common word")
    assert [hit.run.pk for hit in search.find("common", run=first)] == [first.pk]
    assert {hit.run.pk for hit in search.find("common")} == {first.pk, second.pk}
    assert search.find("common", owner_id=a_person("zoe").pk) == []


def test_a_hit_says_where_the_line_is_now() -> None:
    run = a_run(turns=24, order="")
    compaction = Edit.objects.get(run=run, kind="compact")
    assert (
        Edit.objects.filter(run=run, kind="clear_results").order_by("-number")[0].number > compaction.number
    )
    states = {(hit.state.value, hit.episode) for hit in search.find("page", run=run, limit=200)}
    assert {("window", 0), ("cleared", 0), ("folded", 1)} <= states
    folded = [hit for hit in search.find("cursor_step_7", run=run) if hit.state is search.Where.FOLDED]
    assert [hit.turn for hit in folded] == [1]


def test_what_a_clear_removed_is_dropped_and_an_undo_brings_it_back() -> None:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    made.turn = 1
    answer = made._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text("xylophone")])
    made._write(ev.NoticeGiven(turn=1, message=answer))
    made.window.append(answer)
    kept = [ev.Item(message=1)]
    made._edit(kept, (), kind="clear", method="clear")
    run = Run.objects.get(pk=made.run.pk)
    assert [(hit.state.value, hit.episode) for hit in search.find("xylophone", run=run)] == [("dropped", 0)]
    made._edit([*kept, ev.Item(message=answer.number)], (), kind="undo", method="undo")
    run = Run.objects.get(pk=made.run.pk)
    assert [hit.state.value for hit in search.find("xylophone", run=run)] == ["window"]


def test_an_offloaded_result_says_so() -> None:
    made = Building.start(a_person(), limit=24_000, goal="Goal.", title="t", llm="rehearsal")
    made.say("zephyr")
    made._edit(
        [ev.Item(message=1), ev.Item(message=2, form=ev.Form.PREVIEW)], (), kind="offload", method="offload"
    )
    run = Run.objects.get(pk=made.run.pk)
    assert [hit.state.value for hit in search.find("zephyr", run=run)] == ["offloaded"]


def test_a_snippet_is_made_of_whole_lines_around_the_match() -> None:
    """Trap 5: the index' own snippets cut by tokens."""
    lines = [f"line {number} of the log" for number in range(400)]
    lines[200] = "here the kraken wakes"
    run = holding("\n".join(lines))
    snippet = search.find("kraken", run=run)[0].snippet
    assert snippet.splitlines() == ["…", lines[198], lines[199], lines[200], lines[201], lines[202]]


def test_a_very_long_message_is_found_by_its_last_word() -> None:
    run = holding("word " * 60_000 + "quagga")
    assert numbers("quagga", run) == [2]


def test_folding_says_the_same_of_text_and_query() -> None:
    assert (
        folding.fold("OrderService.reserve_stock") == "order service reserve stock orderservice reserve stock"
    )
    assert folding.fold("数据竞争") == "数据 据竞 竞争 争"
    assert folding.fold("Ünïcödé") == "unicode"
    assert folding.fold("") == ""
    assert folding.fold("x" * 100) == "x" * 64


@pytest.mark.parametrize("long", ["a" * 1_000_000, "aB" * 500_000, "deadbeef01" * 100_000, "竞争" * 200_000])
def test_folding_takes_its_time_from_the_length_alone(long: str) -> None:
    assert folding.fold(long)


def test_the_key_of_a_message_holds_run_and_number() -> None:
    place = index.key(7, 12)
    assert (place >> index.RUN_BITS, place & 0xFFFFFFFF) == (7, 12)


def test_a_message_is_indexed_in_the_transaction_that_writes_it() -> None:
    run = a_run(turns=1, order="")
    claim = lease.Claim(run_id=run.pk, slug=run.slug, owner="worker-1", term=1)
    message = Message(
        number=99, role=Role.USER, author=Author.PERSON, kind=Kind.SAY, turn=1, content=(text("okapi"),)
    )
    lost = ev.TurnLost(turn=9, attempt=1, reason="there is no such turn")
    with pytest.raises(RuntimeError):
        archive.append(claim, ev.Said(turn=1, message=message), lost)
    assert index.find("okapi", run_id=run.pk, limit=5) == []
