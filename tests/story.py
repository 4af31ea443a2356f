"""The story that builders tell: an agent finds out why a nightly export writes some invoices twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runs.engine.events import Effect

TITLE = "Invoices exported twice"
GOAL = """The nightly export writes some invoices twice. Find out why, fix it, and prove it with a test.
Do not change the file format: the bank's import depends on it. The project is in this folder; run the tests with
`python -m unittest`."""
SYSTEM = """You are a careful engineer at work in one folder. Read before you write, run the tests after each change.
After each important decision, new problem or finished stage, take a note first, then go on."""
STATES = (
    ("running", ""),
    ("waiting", "llm: 401 the key is not valid"),
    ("paused", "ada"),
    ("done", ""),
    ("failed", "crashed 3 times in turn 8"),
    ("stopped", "ada"),
)
EFFECTS: Mapping[str, Effect] = {
    "list_files": Effect.PURE,
    "read_file": Effect.PURE,
    "search_files": Effect.PURE,
    "recall": Effect.PURE,
    "take_note": Effect.IDEMPOTENT,
    "edit_file": Effect.IDEMPOTENT,
    "run_command": Effect.EFFECTFUL,
}
TOOLS = tuple(
    {
        "name": name,
        "description": f"{name.replace('_', ' ').capitalize()}.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    for name in EFFECTS
)
EPISODE = """Goal as given; the file format must not change.
The duplicate comes from `export/cursor.py`: `next_page` asks for rows with `updated_at >= last`, so rows stamped in the
same second as the last one of a page come again on the next. Tried `>` instead: loses rows (test_same_second fails).
Decided: page by (updated_at, id), because ids are unique and already indexed.
Done: `next_page` takes a pair; `Writer.write` unchanged. Left: the resume file still holds a bare timestamp."""
LEDGER = """files read: export/cursor.py, export/writer.py, export/resume.py, tests/test_cursor.py
files written: export/cursor.py
commands: python -m unittest → 1, python -m unittest tests.test_cursor → 0
errors: AssertionError: 41 != 40
numbers: PAGE_SIZE=20, invoices=40"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    name: str
    input: Mapping[str, Any]
    result: str
    error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A turn of the story. `trouble`: its first attempt is lost for this reason."""

    words: str
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    said: str = ""
    trouble: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    recalls: str = ""


def steps() -> Iterator[Step]:
    """Without end: the same work on one module after another."""
    for round_, module in enumerate(
        itertools.cycle(("cursor", "writer", "resume", "ledger_file", "bank_format"))
    ):
        yield from _round(round_ + 1, module)


def _round(number: int, module: str) -> Iterator[Step]:
    path, test = f"export/{module}.py", f"tests/test_{module}.py"
    yield Step(
        words=f"I look at what is there before I touch {path}.",
        calls=(
            Call(name="list_files", input={"path": "export"}, result=_listing(number)),
            Call(name="read_file", input={"path": path}, result=_source(module, number)),
        ),
        thinking="The report names only some invoices. So it is not the whole page that comes twice.",
    )
    yield Step(
        words="The tests first: what do they say as it stands?",
        calls=(
            Call(
                name="run_command", input={"command": "python -m unittest"}, result=_red(number), error=True
            ),
        ),
    )
    yield Step(
        words=f"One failure. The test that fails is in {test}; I read it, and who else calls the function.",
        calls=(
            Call(name="read_file", input={"path": test}, result=_test_source(module, number)),
            Call(name="search_files", input={"pattern": "next_page", "path": "."}, result=_hits(number)),
        ),
    )
    yield Step(
        words="Rows with the same second as the last of a page come again on the next one. I note this.",
        calls=(
            Call(
                name="take_note",
                input={
                    "section": "facts",
                    "text": f"{module}: rows of the same second repeat at a page's edge",
                },
                result="Noted.",
            ),
        ),
        notes=(("facts", f"{module}: rows of the same second repeat at a page's edge"),),
        thinking="If it used > it would lose rows instead. The pair (updated_at, id) is strict and loses nothing.",
    )
    yield Step(
        words="I page by the pair of time and id.",
        calls=(
            Call(
                name="edit_file",
                input={
                    "path": path,
                    "old": "updated_at >= :last",
                    "new": "(updated_at, id) > (:last, :last_id)",
                },
                result=f"1 replacement in {path}.",
            ),
        ),
        said="Keep the query usable on SQLite 3.40, please." if number == 1 else "",
        notes=(("decisions", f"{module}: page by (updated_at, id)"),) if number % 2 else (),
    )
    yield Step(
        words="Now that test alone.",
        calls=(
            Call(name="run_command", input={"command": f"python -m unittest {test}"}, result=_green(number)),
        ),
        trouble="the stream was cut before its end" if number == 2 else "",
    )
    yield Step(
        words="Was there not a file that remembers where the last export stopped? I look it up.",
        calls=(Call(name="recall", input={"query": "resume file timestamp"}, result=_recalled(number)),),
        recalls="resume file timestamp",
    )


def _listing(number: int) -> str:
    return "\n".join(f"{name}.py  {size * 37 + number} bytes" for size, name in enumerate(_MODULES, 11))


_MODULES = ("__init__", "bank_format", "cursor", "ledger_file", "resume", "writer")


def _source(module: str, number: int) -> str:
    lines = [
        f'"""Part of the export: {module}, as of change {number}."""',
        "",
        f"PAGE_SIZE = {20 + number}",
        "",
    ]
    for at in range(48):
        lines += [
            f"def {module}_step_{at}(rows, last, last_id):",
            f'    """Step {at}: hands on the rows of one page in the order of (updated_at, id)."""',
            f"    page = [row for row in rows if (row.updated_at, row.id) > (last, last_id)][:PAGE_SIZE + {at}]",
            f"    return page, len(page) == PAGE_SIZE + {at}",
            "",
        ]
    return "\n".join(lines)


def _test_source(module: str, number: int) -> str:
    lines = ["import unittest", "", f"class {module.title().replace('_', '')}Test(unittest.TestCase):"]
    for at in range(26):
        lines += [
            f"    def test_page_{at}_has_no_row_twice(self):",
            f"        rows = invoices({40 + number}, same_second={at % 3 == 0})",
            f"        self.assertEqual(len(set(exported(rows, page={at + 2}))), {40 + number})",
            "",
        ]
    return "\n".join(lines)


def _hits(number: int) -> str:
    return "\n".join(
        f"export/{name}.py:{at * 7 + number}: next_page(last)" for at, name in enumerate(_MODULES, 1)
    )


def _red(number: int) -> str:
    dots = "." * 30 + "F" + "." * 9
    return f"""{dots}
FAIL: test_page_{number}_has_no_row_twice
Traceback (most recent call last):
  File "tests/test_cursor.py", line {20 + number}, in test_page_{number}_has_no_row_twice
AssertionError: {41 + number} != {40 + number}
Ran 40 tests in 0.8{number}s
FAILED (failures=1)
exit code 1"""


def _green(number: int) -> str:
    return f"{'.' * 14}\nRan 14 tests in 0.2{number % 10}s\n\nOK\nexit code 0"


def _recalled(number: int) -> str:
    return f"turn {max(1, number * 7 - 5)}: export/resume.py writes `last` as a bare timestamp, to var/export.resume"
