"""What no file of the project may say, and no test may do."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

from .source import ROOT, name, python, tracked

OWN = Path(__file__).resolve()
# Put together here, so that this file does not say them either.
MACHINES = re.compile(
    "|".join([r"(?<![\w.])/" + "root/", r"(?<![\w.])/" + "work/", r"\.\./" + "shared", "/" + "Users/"])
)


def texts() -> dict[str, str]:
    found = {}
    for path in tracked():
        if path == OWN or path.suffix in (".png", ".ico", ".woff2"):
            continue
        try:
            found[name(path)] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def test_no_path_of_a_developers_machine() -> None:
    assert {path: found[0] for path, text in texts().items() if (found := MACHINES.findall(text))} == {}


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
    sources = {
        path: text
        for path, text in texts().items()
        if path.endswith((".py", ".js", ".html", ".css", ".toml"))
    }
    assert [path for path, text in sources.items() if marks.search(text)] == []


def test_no_third_party_file_is_committed() -> None:
    foreign = re.compile(r"\.min\.(js|css)$|^static/vendor/|node_modules/")
    assert [name(path) for path in tracked() if foreign.search(name(path))] == []


def test_the_project_is_never_offered_under_somebody_elses_name() -> None:
    offer = re.compile(r"(pip|uv|pipx) (install|tool install) agentdash(?![-\w])")
    assert [path for path, text in texts().items() if offer.search(text)] == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    marks = ("mark." + "skip", "mark." + "xfail", "import" + "orskip")
    found = [
        name(path)
        for path in python("tests")
        if any(mark in path.read_text(encoding="utf-8") for mark in marks)
    ]
    assert found == []


def test_stories_mock_nothing() -> None:
    mocks = ("unittest.mock", "monkeypatch", "mocker", "patch(")
    stories = [path for path in python("tests/stories") if path.name.startswith("test_")]
    assert [
        name(path) for path in stories if any(mock in path.read_text(encoding="utf-8") for mock in mocks)
    ] == []


def test_the_version_is_the_changelogs_first_heading() -> None:
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading
    assert version("agentdash-cockpit") == heading[1]
