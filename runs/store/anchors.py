"""Anchors: every 100th event's hash, written to a file outside the database.

Whoever can write the database can also recompute its chain; the file beside it still tells.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction

EVERY = 100

log = logging.getLogger(__name__)


def path(slug: str) -> Path:
    return Path(settings.AGENTDASH_HOME) / "anchors" / slug


def drop_on_commit(slug: str, seq: int, digest: str) -> None:
    """Note the event once it is committed. A full disk here must not stop a run: its turn already stands."""
    transaction.on_commit(partial(_drop, slug, seq, digest))


def read(slug: str) -> dict[int, str]:
    """Hashes by event number; empty where nothing was anchored yet."""
    try:
        lines = path(slug).read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    pairs = (line.split(" ", 1) for line in lines if " " in line)
    return {int(seq): digest for seq, digest in pairs if seq.isdigit()}


def _drop(slug: str, seq: int, digest: str) -> None:
    target = path(slug)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="ascii") as file:
            file.write(f"{seq} {digest}\n")
    except OSError as error:
        log.warning("anchor not written: run=%s seq=%s error=%s", slug, seq, error)
