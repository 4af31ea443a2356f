"""Logging: one line an event, secrets masked. Embedded the detail goes to a file and only warnings to the screen."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

SECRET = re.compile(
    r"(?P<name>(?:token|key|password|secret|authorization)[\"']?\s*[=:]\s*[\"']?(?:bearer\s+)?)[^\s\"'&,;]+"
    r"|sk-ant-[\w-]+|://[^/\s:@]+:[^/\s@]+@",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The text with tokens, keys and passwords replaced."""
    return SECRET.sub(lambda found: f"{found['name'] or ''}[masked]", text)


def mask(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: masks every text of an event."""
    return {key: masked(value) if isinstance(value, str) else value for key, value in event.items()}


BEFORE: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def settings(home: Path | None) -> dict[str, Any]:
    """Django's LOGGING. With a `home`, detail goes to home/agentdash.log; without, everything goes to stderr."""
    screen = {"class": "logging.StreamHandler", "formatter": "line", "level": "WARNING" if home else "INFO"}
    handlers: dict[str, Any] = {"screen": screen}
    if home:
        handlers["file"] = {
            "class": "logging.handlers.RotatingFileHandler",
            "filename": str(home / "agentdash.log"),
            "formatter": "line",
            "maxBytes": 5_000_000,
            "backupCount": 2,
            "delay": True,
            "encoding": "utf-8",
        }
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *BEFORE,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "handlers": handlers,
        "root": {"handlers": list(handlers), "level": "WARNING"},
        "loggers": {name: {"level": "INFO"} for name in ("agentdash", "runs")}
        | {
            "uvicorn": {"level": "WARNING"},
            "django": {"level": "WARNING", "handlers": [], "propagate": True},
        },
    }


def formatter() -> structlog.stdlib.ProcessorFormatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=BEFORE,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            mask,
            structlog.dev.ConsoleRenderer(colors=False),
        ],
    )
