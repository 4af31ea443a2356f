"""Secrets this installation made for itself: files of mode 0600 in its home."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def folder(home: Path) -> Path:
    """The home, made readable by its owner only when it is new."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home


def secret(home: Path, name: str) -> str:
    """The secret kept in `home/name`, made at first use. Two processes starting at once agree on one."""
    path = folder(home) / name
    if not path.exists():
        fresh = path.with_name(f"{name}.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(48), encoding="ascii")
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text(encoding="ascii").strip()
