"""`python -m tests.cases FILE [--json]`: a line a case; exit 1 if any fails, 2 where there is none to run."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from .checks import failures
from .expand import Unreadable, case_of, lines_of
from .operations import OPERATIONS, outcomes


def verdict(case: Mapping[str, Any]) -> dict[str, Any]:
    """{"id", "pass", "problems"} of one case; an operation that is not known fails it, and so does what breaks."""
    if case["operation"] not in OPERATIONS:
        return {"id": case["id"], "pass": False, "problems": [f"no operation {case['operation']!r}"]}
    try:
        found = [wrong for outcome in outcomes(case) for wrong in failures(outcome, case["checks"])]
    except Exception as error:  # the other cases still have to be run
        traceback.print_exc()
        found = [f"broke off: {type(error).__name__}: {error}"]
    return {"id": case["id"], "pass": not found, "problems": found}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="a JSON line a case")
    parser.add_argument("--only", nargs="*", help="ids of the cases to run")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    verdicts = 0
    failed = 0
    try:
        for one in _verdicts(given.file, given.only or ()):
            verdicts, failed = verdicts + 1, failed + (not one["pass"])
            sys.stdout.write(_line(one, as_json=given.json))
    except Unreadable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not verdicts:
        sys.stderr.write(f"No case of {given.file} was run: it holds none, or none with these ids.\n")
        return 2
    return 1 if failed else 0


def _verdicts(file: Path, only: Collection[str]) -> Iterator[dict[str, Any]]:
    """A line that is no case fails, and the others are run."""
    for number, line in lines_of(file):
        try:
            case = case_of(line)
        except Unreadable as error:
            yield {"id": f"line {number}", "pass": False, "problems": [str(error)]}
            continue
        if not only or case["id"] in only:
            yield verdict(case)


def _line(one: Mapping[str, Any], *, as_json: bool) -> str:
    if as_json:
        return json.dumps(one) + "\n"
    return f"{'ok  ' if one['pass'] else 'FAIL'} {one['id']} {'; '.join(one['problems'])}\n"


if __name__ == "__main__":
    sys.exit(main())
