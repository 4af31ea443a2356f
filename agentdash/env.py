"""What the environment says, read once. Absence of a variable is the switch; a half-set group fails with a sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class EnvironmentMistake(ValueError):
    """A variable is wrong or missing. The message names it, and the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Embedded (one process, SQLite under `home`) unless `redis_url` and `database_url` are set."""

    home: Path
    host: str = "127.0.0.1"
    port: int = 8765
    llm: str = ""
    public_url: str = ""
    redis_url: str = ""
    database_url: str = ""
    unsandboxed: str = ""
    lease_ms: int = 30_000
    anthropic_api_key: str = field(default="", repr=False)
    anthropic_auth_token: str = field(default="", repr=False)
    anthropic_base_url: str = ""

    @property
    def embedded(self) -> bool:
        return not self.redis_url

    @property
    def address(self) -> str:
        """Where a browser finds the pages: scheme, host and port, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def https(self) -> bool:
        return self.public_url.startswith("https://")

    @property
    def has_key(self) -> bool:
        """Whether a real llm can be reached; a base address alone is a complete group."""
        return bool(self.anthropic_api_key or self.anthropic_auth_token or self.anthropic_base_url)


def read(environ: Mapping[str, str]) -> Environment:
    """The environment as one value. Raises EnvironmentMistake."""
    given = {name: value.strip() for name, value in environ.items()}
    redis_url, database_url = _pair(given)
    return Environment(
        home=Path(given.get("AGENTDASH_HOME") or "~/.agentdash").expanduser().absolute(),
        host=given.get("AGENTDASH_HOST") or "127.0.0.1",
        port=_port(given.get("AGENTDASH_PORT") or "8765"),
        llm=given.get("AGENTDASH_LLM", ""),
        public_url=_public_url(given.get("AGENTDASH_PUBLIC_URL", "")),
        redis_url=redis_url,
        database_url=database_url,
        unsandboxed=_unsandboxed(given.get("AGENTDASH_UNSANDBOXED", "")),
        lease_ms=_lease(given.get("AGENTDASH_LEASE_MS") or "30000"),
        anthropic_api_key=given.get("ANTHROPIC_API_KEY", ""),
        anthropic_auth_token=given.get("ANTHROPIC_AUTH_TOKEN", ""),
        anthropic_base_url=given.get("ANTHROPIC_BASE_URL", ""),
    )


def _pair(given: Mapping[str, str]) -> tuple[str, str]:
    redis_url, database_url = given.get("REDIS_URL", ""), given.get("DATABASE_URL", "")
    if redis_url and not database_url:
        raise EnvironmentMistake(
            "REDIS_URL is set but DATABASE_URL is missing. Set DATABASE_URL to a Postgres address too, "
            "or unset REDIS_URL to run in one process."
        )
    if database_url and not redis_url:
        raise EnvironmentMistake(
            "DATABASE_URL is set but REDIS_URL is missing. Set REDIS_URL too, "
            "or unset DATABASE_URL to run in one process."
        )
    if redis_url and not redis_url.startswith(("redis://", "rediss://", "unix://")):
        raise EnvironmentMistake("REDIS_URL must begin with redis://, rediss:// or unix://.")
    if database_url and not database_url.startswith(("postgres://", "postgresql://")):
        raise EnvironmentMistake("DATABASE_URL must begin with postgres:// or postgresql://.")
    return redis_url, database_url


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise EnvironmentMistake(f"AGENTDASH_PORT is {text!r}. Set it to a number from 1 to 65535.")
    return int(text)


def _lease(text: str) -> int:
    if not text.isdecimal() or not 500 <= int(text) <= 600_000:
        raise EnvironmentMistake(
            f"AGENTDASH_LEASE_MS is {text!r}. Set it to milliseconds from 500 to 600000: so long is a run of a dead "
            "worker left alone."
        )
    return int(text)


def _public_url(text: str) -> str:
    parts = urlsplit(text)
    if not text:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise EnvironmentMistake(
            f"AGENTDASH_PUBLIC_URL is {text!r}. Set it to scheme and host only, like https://agents.example.org."
        )
    return f"{parts.scheme}://{parts.netloc}".lower()


def _unsandboxed(text: str) -> str:
    if text not in ("", "ask"):
        raise EnvironmentMistake(f"AGENTDASH_UNSANDBOXED is {text!r}. Set it to ask, or unset it.")
    return text


def database(url: str) -> dict[str, object]:
    """Django's settings of a Postgres database, with a pool, from its address."""
    parts: SplitResult = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "agentdash",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,  # a pool's connection may have died with the server it was to
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": 16, "timeout": 10, "reconnect_timeout": 2},
            "options": "-c lock_timeout=20s -c idle_in_transaction_session_timeout=60s",
            "connect_timeout": 5,
        },
    }


def prices(path: Path) -> dict[str, dict[str, float]]:
    """What a person knows better than our table, by llm: input, output, … in dollars per million tokens, and
    context, max_output in tokens. No file: nothing. Raises EnvironmentMistake."""
    if not path.exists():
        return {}
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as mistake:
        raise EnvironmentMistake(
            f"{path} cannot be read as TOML: {mistake}. Mend it, or move it away."
        ) from None
    for llm, row in given.items():
        if not isinstance(row, dict) or not all(isinstance(value, int | float) for value in row.values()):
            raise EnvironmentMistake(
                f'{path}: {llm!r} needs a section of numbers, like ["{llm}"] with input = 3.0 and output = 15.0.'
            )
    return given
