"""The wheel alone is enough: it holds templates, static files with the chart's library, and all that is no Python."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import hatch_build

from .conftest import ROOT, Terminal


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(out)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = out.glob("*.whl")
    return found


def test_everything_a_package_needs_is_in_the_wheel(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"agentdash/static/vendor/{name}" for name in hatch_build.FILES.values()}
    for folder in ("templates", "static"):
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        wanted |= {f"agentdash/{path.relative_to(ROOT).as_posix()}" for path in files}
    for folder in ("agentdash", "runs"):
        files = (
            path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        wanted |= {path.relative_to(ROOT).as_posix() for path in files}
    assert wanted - packed == set()


def test_nothing_else_is_in_it(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel).namelist()
    strays = [
        one for one in packed if not re.match(r"(agentdash|runs)/|agentdash_cockpit-[^/]+\.dist-info/", one)
    ]
    assert strays == []
    assert not any("__pycache__" in one or one.startswith("agentdash/tests") for one in packed)


def test_what_was_fetched_is_known_by_the_lock_file(tmp_path: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    assert hatch_build.current(ROOT)
    assert not hatch_build.current(tmp_path)
    vendor = tmp_path / "static/vendor"
    vendor.mkdir(parents=True)
    for name in (*hatch_build.FILES.values(), "lock.sha256"):
        (vendor / name).write_bytes((ROOT / "static/vendor" / name).read_bytes())
    assert hatch_build.current(tmp_path)
    (tmp_path / "package-lock.json").write_text("{}")
    assert not hatch_build.current(tmp_path)


def test_the_unpacked_wheel_serves_its_pages_styles_and_library(
    wheel: Path, terminal: Terminal, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    terminal.env["PYTHONPATH"] = str(installed)
    where = terminal.run("doctor", "--json")
    assert {line["check"]: line["ok"] for line in where.json}["browser libraries"], where.out
    process = terminal.start("demo", "--port", str(20_000 + os.getpid() % 20_000), "--no-open")
    assert process.stdout
    line = process.stdout.readline()
    netloc = urlsplit(line.split()[-1]).netloc
    for path in ("/login", "/static/css/base.css", "/static/js/live.js", "/static/vendor/uPlot.min.css"):
        asked = http.client.HTTPConnection(netloc, timeout=30)
        asked.request("GET", path)
        assert asked.getresponse().status == 200, path
        asked.close()
