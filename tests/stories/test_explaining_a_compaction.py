"""Ada opens a compaction and sees of every entry what became of it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from runs.models import Edit, Episode, Run
from tests.living import LiveHouse, expect

from .telling import path

CLASSES = {"kept", "folded", "cleared", "offloaded", "pinned", "re-entered", "dropped", "added"}


def number(text: str) -> int:
    return int(text.replace(",", "")) if text.strip("–− ") else 0


@pytest.fixture
def compaction(finished: Run) -> Edit:
    """The second of them: it takes in the first summary."""
    found = Edit.objects.filter(run=finished, state="applied", episode__isnull=False).order_by("number")
    return found[1]


def test_every_entry_is_in_exactly_one_class_and_the_sums_are_the_totals(
    compaction: Edit, finished: Run, house: LiveHouse
) -> None:
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    rows = ada.locator("[data-blocks] > li")
    fates = rows.evaluate_all("(all) => all.map((one) => one.dataset.fate)")
    assert set(fates) <= CLASSES
    names = rows.evaluate_all("(all) => all.map((one) => one.dataset.key)")
    assert len(names) == len(set(names))
    table = ada.locator("table.sums")
    told = {}
    for row in table.locator("tbody tr").all():
        word, entries, before, after = row.locator("td").all_text_contents()
        told[word] = (number(entries), number(before), number(after))
    assert {word: entries for word, (entries, _, _) in told.items()} == dict(Counter(fates))
    assert sum(before for _, before, _ in told.values()) == compaction.tokens_before
    assert sum(after for _, _, after in told.values()) == compaction.tokens_after
    foot = [number(text) for text in table.locator("tfoot td").all_text_contents()[1:]]
    assert foot == [len(names), compaction.tokens_before, compaction.tokens_after]


def test_the_list_beside_the_map_adds_up_too(compaction: Edit, finished: Run, house: LiveHouse) -> None:
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    befores = ada.locator("[data-blocks] .br > :nth-child(4)").all_text_contents()
    assert sum(number(text) for text in befores if text.strip() != "–") == compaction.tokens_before
    label = ada.locator(".maps-head").text_content()
    assert f"{compaction.tokens_before:,}" in label
    assert f"{compaction.tokens_after:,}" in label


def test_the_summary_its_ledger_its_cost_and_who_asked_stand_beside(
    compaction: Edit, finished: Run, house: LiveHouse
) -> None:
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    episode = Episode.objects.get(run=finished, number=compaction.episode)
    told = ada.locator("section.told")
    expect(told).to_contain_text(f"Summary {episode.number}")
    expect(told).to_contain_text("took in summary 1")
    expect(told).to_contain_text("Ledger")
    expect(told).to_contain_text(re.compile(r"Asked\s*automatic"))
    expect(told).to_contain_text(re.compile(r"\$0\.\d+ for the call"))


def test_a_block_opens_to_what_stood_before_and_what_stands_after(
    compaction: Edit, finished: Run, house: LiveHouse
) -> None:
    """One at a time; Escape closes it; the map and the list light up together."""
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    folded = ada.locator('[data-blocks] > li[data-fate="folded"] a.br')
    folded.nth(1).click()
    expect(ada.locator(".df:not([hidden]) pre.diff")).to_be_visible()
    folded.nth(2).click()
    expect(ada.locator(".df:not([hidden])")).to_have_count(1)
    expect(ada.locator("[data-map].lit .bk.on").first).to_be_attached()
    ada.keyboard.press("Escape")
    expect(ada.locator(".df:not([hidden])")).to_have_count(0)


def test_a_class_can_be_picked_and_words_be_filtered(
    compaction: Edit, finished: Run, house: LiveHouse
) -> None:
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    pick = ada.locator('button.pick[data-fate="folded"]')
    count = int(pick.text_content().rsplit(" ", 1)[1])
    pick.click()
    expect(ada.locator("[data-blocks] > li:visible")).to_have_count(count)
    ada.get_by_label("Filter the blocks").fill("run_command")
    assert 0 < ada.locator("[data-blocks] > li:visible").count() < count


def test_brackets_lead_to_the_edits_before_and_after(
    compaction: Edit, finished: Run, house: LiveHouse
) -> None:
    ada = house.page(path(finished, f"compactions/{compaction.number}/"))
    ada.keyboard.press("[")
    expect(ada).to_have_url(re.compile(f"/compactions/{compaction.number - 1}/$"))
    ada.keyboard.press("]")
    expect(ada).to_have_url(re.compile(f"/compactions/{compaction.number}/$"))


def test_every_edit_of_a_run_has_its_page(finished: Run, house: LiveHouse) -> None:
    """Clearings, offloads and compactions alike, in words of their own, without an error."""
    ada = house.page("/")
    titles = {"clear_results": "Results cleared", "offload": "Result offloaded", "compact": "Compaction"}
    for edit in Edit.objects.filter(run=finished):
        ada.goto(house.address + path(finished, f"compactions/{edit.number}/"))
        expect(ada.get_by_role("heading", level=1)).to_contain_text(titles[edit.kind])
