"""What README and docs say is so: keys, commands, links, and no advice to install somebody else's package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdash.cli import cli
from runs.engine import policy
from runs.engine.llm.rehearsal import scripts

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_installs_somebody_elses_package(page: Path) -> None:
    assert not re.search(r"pip install ['\"]?agentdash(?![-_]cockpit)", page.read_text(encoding="utf-8"))


def test_the_page_on_policies_names_every_key_and_every_preset() -> None:
    page = text("docs/policy.md")
    missing = [key for key in keys() if f"`{key}`" not in page]
    missing += [name for name in policy.presets() if f"`{name}`" not in page]
    assert missing == []


def keys() -> Iterator[str]:
    default = tomllib.loads(text("runs/engine/policy/default.toml"))
    for name, value in default.items():
        yield from value if isinstance(value, dict) else (name,)


def test_the_page_on_commands_names_every_command_and_option() -> None:
    page = text("docs/commands.md")
    missing = [name for name in cli.commands if f"`{name} " not in page and f"`{name}`" not in page]
    missing = [name for name in missing if name != "run"]  # it stands in a block of its own
    for name, command in cli.commands.items():
        options = [option for param in command.params for option in param.opts if option.startswith("--")]
        missing += [f"{name} {option}" for option in options if option not in page]
    assert missing == []


def test_the_page_on_the_rehearsal_names_every_script() -> None:
    page = text("docs/rehearsal.md")
    assert [name for name in scripts.names() if f"rehearsal/{name}" not in page] == []


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = text("mkdocs.yml")
    pages = [
        page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.is_relative_to(ROOT / "docs")
    ]
    assert [page for page in pages if page not in contents] == []
