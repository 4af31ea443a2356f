"""Texts of every kind that a run meets, and how many tokens a real tokenizer counts in them.

The texts are our own or made here; counts.json holds what ctok (family 4.8) says of them. With ctok installed
(Python 3.12 or newer) `python -m tests.engine.samples` writes it anew.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

HERE = Path(__file__).parent
COUNTS = HERE / "counts.json"
FRAME = 6
"""Tokens that ctok adds for the message around a text."""


def texts() -> Mapping[str, str]:
    """Every sample by its name."""
    written = {path.stem: path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.txt"))}
    return written | {name: make(random.Random(name)) for name, make in _MADE.items()}


def counts() -> Mapping[str, int]:
    told: dict[str, int] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return told


def _base64(chance: random.Random) -> str:
    return base64.b64encode(chance.randbytes(900)).decode()


def _base64_lines(chance: random.Random) -> str:
    return base64.encodebytes(chance.randbytes(900)).decode()


def _base64_url(chance: random.Random) -> str:
    return base64.urlsafe_b64encode(chance.randbytes(900)).decode()


def _base64_text(chance: random.Random) -> str:
    words = (HERE / "prose-english.txt").read_bytes() + (HERE / "code-python.txt").read_bytes()
    return base64.b64encode(words).decode()


def _picture(chance: random.Random) -> str:
    """A data address, as pages have them."""
    return f'<img src="data:image/png;base64,{base64.b64encode(chance.randbytes(600)).decode()}" alt="">'


def _digests(chance: random.Random) -> str:
    return "\n".join(f"{chance.randbytes(32).hex()}  dist/part-{n}.whl" for n in range(12))


def _commits(chance: random.Random) -> str:
    said = ("Fix the export", "Add a test", "Wait for the lock", "Rename the valve")
    return "\n".join(f"{chance.randbytes(4).hex()[:7]} {chance.choice(said)}" for _ in range(30))


def _upper_hex(chance: random.Random) -> str:
    return chance.randbytes(500).hex().upper()


def _dump(chance: random.Random) -> str:
    data = chance.randbytes(256)
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "\n".join(f"{16 * n:08x}: {row.hex(' ', 2)}" for n, row in enumerate(rows))


def _ids(chance: random.Random) -> str:
    return "\n".join(str(UUID(int=chance.getrandbits(128))) for _ in range(20))


def _numbers(chance: random.Random) -> str:
    return "\n".join(",".join(str(chance.randint(0, 10**7)) for _ in range(8)) for _ in range(15))


def _decimals(chance: random.Random) -> str:
    return " ".join(f"{chance.gauss(0, 1):.5f}" for _ in range(120))


def _order(chance: random.Random) -> Mapping[str, object]:
    return {
        "id": chance.randint(1000, 999_999),
        "customer": {
            "name": chance.choice(["Ada Stein", "Blas Okafor", "Zoe Kowalski"]),
            "vip": chance.random() < 0.5,
        },
        "placed_at": f"2026-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}T08:{chance.randint(10, 59)}:00Z",
        "state": chance.choice(["open", "paid", "shipped"]),
        "lines": [
            {"sku": f"LMP-{chance.randint(100, 999)}", "quantity": n, "price": round(9.9 * n, 2)}
            for n in (1, 2)
        ],
        "note": None,
    }


def _json(chance: random.Random) -> str:
    return json.dumps([_order(chance) for _ in range(5)], indent=2)


def _json_tight(chance: random.Random) -> str:
    return json.dumps([_order(chance) for _ in range(6)], separators=(",", ":"))


def _json_lines(chance: random.Random) -> str:
    return "\n".join(json.dumps(_order(chance)) for _ in range(6))


def _json_in_json(chance: random.Random) -> str:
    return json.dumps(
        {"path": "agenda.py", "content": (HERE / "code-python.txt").read_text(encoding="utf-8")}
    )


def _log(chance: random.Random) -> str:
    said = ("request took {} ms", "retry {} of 5", "cache miss for user:{}", "closed connection {}")
    return "\n".join(
        f"2026-11-{chance.randint(1, 30):02d} 12:{chance.randint(10, 59)}:07,{chance.randint(100, 999)} "
        f"{chance.choice(['INFO', 'WARNING', 'ERROR'])} shop.orders: "
        f"{chance.choice(said).format(chance.randint(1, 9999))}"
        for _ in range(20)
    )


def _access(chance: random.Random) -> str:
    return "\n".join(
        f"10.0.{chance.randint(0, 9)}.{chance.randint(1, 254)} - - [28/Nov/2026:09:14:{chance.randint(10, 59)} +0000] "
        f'"GET /orders/{chance.randint(1, 9999)}/?page=2 HTTP/1.1" 200 {chance.randint(200, 90_000)}'
        for _ in range(15)
    )


def _csv(chance: random.Random) -> str:
    rows = [
        f"{n},Stein,{chance.choice(['Lima', 'Osaka'])},{chance.random() * 900:.2f},2026-03-1{n % 9}"
        for n in range(30)
    ]
    return "\n".join(["id,name,city,total,day", *rows])


_MADE: Mapping[str, Callable[[random.Random], str]] = {
    "base64": _base64,
    "base64-lines": _base64_lines,
    "base64-url": _base64_url,
    "base64-of-text": _base64_text,
    "base64-in-a-page": _picture,
    "hex-digests": _digests,
    "hex-commits": _commits,
    "hex-upper-case": _upper_hex,
    "hex-dump": _dump,
    "uuids": _ids,
    "numbers": _numbers,
    "decimals": _decimals,
    "json": _json,
    "json-tight": _json_tight,
    "json-lines": _json_lines,
    "json-in-json": _json_in_json,
    "log": _log,
    "log-of-requests": _access,
    "csv": _csv,
}
