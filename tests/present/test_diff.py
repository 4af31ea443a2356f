"""Whatever an edit did: each entry stands in exactly one class, and the list adds up to both totals."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.engine.events import Form, Item
from runs.engine.messages import Kind
from runs.engine.window.diff import Fate
from runs.present.diff import Comparison, Totals, compare

FORMS = st.sampled_from(list(Form))
KINDS = st.sampled_from(list(Kind))
patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
EDITS = st.sampled_from(["compact", "clear", "clear_results", "offload"])


@st.composite
def windows(draw: st.DrawFn) -> tuple[list[Item], list[Item], dict[int, Kind], dict[tuple[int, Form], int]]:
    numbers = draw(st.lists(st.integers(1, 60), unique=True, max_size=24))
    before = [Item(message=number, form=draw(FORMS)) for number in numbers]
    stays = [item for item in before if draw(st.booleans())]
    after = [Item(message=item.message, form=draw(FORMS), pinned=draw(st.booleans())) for item in stays]
    after += [Item(message=number) for number in draw(st.lists(st.integers(61, 70), unique=True, max_size=4))]
    kinds = {item.message: draw(KINDS) for item in [*before, *after]}
    sizes = {(number, form): draw(st.integers(1, 9000)) for number in kinds for form in Form}
    return before, after, kinds, sizes


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[Comparison, list[Item], list[Item]]:
    before, after, kinds, sizes = draw(windows())
    system, tools = draw(st.integers(1, 900)), draw(st.integers(1, 3000))
    rest = system + tools
    totals = Totals(
        before=rest + (draw(st.integers(len(before) + 1, 200_000)) if before else 0),
        after=rest + (draw(st.integers(len(after) + 1, 200_000)) if after else 0),
        system=system,
        tools=tools,
    )
    found = compare(before, after, kinds=kinds, edit=draw(EDITS), sizes=sizes, totals=totals)
    return found, before, after


@patiently
@given(comparisons())
def test_every_entry_stands_in_exactly_one_class(made: tuple[Comparison, list[Item], list[Item]]) -> None:
    found, before, after = made
    messages = [row.message for row in found.rows if row.message]
    assert sorted(messages) == sorted({item.message for item in [*before, *after]})
    assert sum(one.entries for one in found.sums()) == len(found.rows)


@patiently
@given(comparisons())
def test_the_sums_equal_both_totals(made: tuple[Comparison, list[Item], list[Item]]) -> None:
    found, _, _ = made
    assert sum(one.before for one in found.sums()) == found.totals.before
    assert sum(one.after for one in found.sums()) == found.totals.after


@patiently
@given(comparisons())
def test_what_does_not_stand_on_a_side_has_no_tokens_there(
    made: tuple[Comparison, list[Item], list[Item]],
) -> None:
    for row in made[0].rows:
        assert row.before is not None or row.tokens_before == 0
        assert row.after is not None or row.tokens_after == 0
        assert min(row.tokens_before, row.tokens_after) >= 0


def test_what_stands_unchanged_weighs_the_same_on_both_sides() -> None:
    items = [Item(message=1), Item(message=2), Item(message=3)]
    found = compare(
        items,
        [Item(message=1), Item(message=3), Item(message=4)],
        kinds={1: Kind.GOAL, 2: Kind.ANSWER, 3: Kind.RESULTS, 4: Kind.EPISODE},
        edit="compact",
        sizes={(number, form): 100 * number for number in (1, 2, 3, 4) for form in Form},
        totals=Totals(before=2000, after=1700, system=100, tools=200),
    )
    by_key = {row.key: row for row in found.rows}
    assert [by_key[key].fate for key in ("system", "m1", "m2", "m3", "m4")] == [
        Fate.KEPT,
        Fate.PINNED,
        Fate.FOLDED,
        Fate.KEPT,
        Fate.ADDED,
    ]
    assert by_key["m3"].tokens_before == by_key["m3"].tokens_after
    assert sum(row.tokens_after for row in found.rows) == 1700
