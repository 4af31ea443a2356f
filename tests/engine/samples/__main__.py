"""Writes counts.json anew; needs ctok."""

from __future__ import annotations

import json

from ctok import token_count

from . import COUNTS, FRAME, texts

told = {name: token_count(text, "4.8") - FRAME for name, text in texts().items()}
COUNTS.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
