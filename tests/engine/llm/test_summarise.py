"""The rehearsal's summaries: chosen lines, shorter than asked, in the language of the conversation."""

from __future__ import annotations

from typing import Any

from runs.engine.llm.rehearsal import count
from runs.engine.llm.rehearsal.summarise import language, summarise
from runs.engine.middleware.summary import PROMPT

from .asking import ask, llm

ORDER = PROMPT.read_text(encoding="utf-8").replace("{tokens}", "{asked}").replace("{words}", "200")
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Mend the shop. Never touch the tests."},
    {"role": "assistant", "content": "The cause is a race, because reserve reads before it writes."},
    {"role": "user", "content": "KEY-105: v31495\nnoise without end\nFor the record, the valve opens at 41 bar."},
    {"role": "assistant", "content": [
        {"type": "text", "text": "I edit the store."},
        {"type": "tool_use", "id": "t1", "name": "edit_file", "input": {"path": "orders/store.py", "old": "a"}},
    ]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "Edited.\nAssertionError: 2 != 1\nmore noise"},
    ]},
    {"role": "assistant", "content": "Next I run the tests."},
]  # fmt: skip


def summary(talk: list[dict[str, Any]], *, asked: int = 400, aside: str = "") -> str:
    last = {
        "role": "user",
        "content": [{"type": "text", "text": ORDER.replace("{asked}", f"{asked:,}") + aside}],
    }
    return summarise({"messages": [*talk, last], "max_tokens": 16_000})


def test_it_keeps_goal_reasons_data_troubles_files_and_state() -> None:
    text = summary(TALK)
    for kept in (
        "Never touch the tests.",
        "because reserve reads before it writes",
        "KEY-105: v31495",
        "the valve opens at 41 bar",
        "AssertionError: 2 != 1",
        "orders/store.py",
        "Next I run the tests.",
    ):
        assert kept in text
    assert "noise" not in text
    assert "Stop here and write a summary" not in text


def test_it_is_shorter_than_asked() -> None:
    talk = TALK + [
        {"role": role, "content": f"KEY-{n}: value-{n} because of {n}"}
        for n in range(1_000)
        for role in ("user", "assistant")
    ]
    for asked in (200, 1_000, 2_400):
        assert 0.3 * asked < count.text(summary(talk, asked=asked)) <= asked


def test_lines_the_product_keeps_by_itself_are_not_repeated() -> None:
    aside = "\n\nThese lines stay beside your summary. They are not to be repeated:\nKEY-105: v31495"
    text = summary(TALK, aside=aside)
    assert "KEY-105" not in text
    assert "41 bar" in text


def test_an_earlier_summary_is_folded_in_and_its_ledger_left_out() -> None:
    earlier = f'<summary turns="1-9">\n{summary(TALK)}\n<ledger>\nports: 80\n</ledger>\nRecall.\n</summary>'
    notes = "<notes>\nfacts:\n- [1, open] the cat is grey\n</notes>"
    blocks = [
        {"type": "text", "text": text} for text in ("Mend the shop.", notes, earlier, "Continue the work.")
    ]
    text = summary([{"role": "user", "content": blocks}, {"role": "assistant", "content": "I go on."}])
    assert "KEY-105: v31495" in text
    assert "because reserve reads before it writes" in text
    assert text.count("KEY-105") == 1
    assert "ports: 80" not in text
    assert "the cat is grey" not in text


def test_a_flattened_transcript_is_read_too() -> None:
    flat = (
        "Transcript:\n[llm, turn 3] The cause is a race, because it reads first.\n  result: KEY-105: v31495"
    )
    body = {
        "messages": [{"role": "user", "content": f"{flat}\n\n{ORDER.replace('{asked}', '400')}"}],
        "max_tokens": 999,
    }
    text = summarise(body)
    assert "KEY-105: v31495" in text
    assert "Keep, in this order" not in text


def test_it_speaks_the_language_of_the_conversation() -> None:
    assert language("Der Fehler ist nicht in der Kasse, und das ist die Ursache.") == "de"
    assert language("The error is not in the till.") == "en"
    assert language("La causa no está en la caja, y es por eso que el error vuelve.") == "es"
    assert language("Le problème est dans la caisse, et pas une autre.") == "fr"
    assert language("原因在于竞争条件。") == "zh"
    assert language("原因は競合です。") == "ja"
    talk = [
        {"role": "user", "content": "Repariere den Laden."},
        {
            "role": "assistant",
            "content": "Ich habe entschieden, dass die Datenbank entscheidet, weil das sicher ist.",
        },
    ]
    assert "## Entscheidungen und Gründe" in summary(talk)


def test_a_request_of_a_summary_is_answered_with_one() -> None:
    last = {"role": "user", "content": ORDER.replace("{asked}", "400")}
    answer = ask(llm(), messages=[*TALK, last], metadata={"user_id": "r-test:6:summary"})
    assert answer.stop_reason == "end_turn"
    assert [block["type"] for block in answer.content] == ["text"]
    assert "KEY-105: v31495" in answer.content[0]["text"]


def test_summaries_go_wrong_on_demand_and_turns_do_not() -> None:
    last = {"role": "user", "content": ORDER.replace("{asked}", "400")}

    def got(fault: str) -> Any:
        return ask(
            llm(),
            model=f"rehearsal/hello+{fault}",
            messages=[*TALK, last],
            metadata={"user_id": "r-test:6:summary"},
        )

    assert got("summary_empty").content == ()
    assert got("summary_blank").content[0]["text"].strip() == ""
    assert got("summary_refusal").stop_reason == "refusal"
    assert got("summary_cut").stop_reason == "max_tokens"
    assert got("summary_tool").stop_reason == "tool_use"
    assert got("summary_markup").content[0]["text"].startswith("<invoke")
    whole, lossy = got("429").content[0]["text"], got("summary_lossy").content[0]["text"]
    assert len(lossy.splitlines()) == (len(whole.splitlines()) + 1) // 2
    assert ask(llm(), model="rehearsal/hello+summary_empty").stop_reason == "tool_use"
