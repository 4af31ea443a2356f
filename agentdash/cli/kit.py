"""Tools around: rehearse (the stand-in of the API on a port of its own), doctor."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from agentdash.cli import ground


@click.command()
@click.option("--port", required=True, type=click.IntRange(1, 65535), help="Where it listens, on 127.0.0.1.")
@click.option(
    "--pace",
    type=click.Choice(["human", "fast"]),
    default="fast",
    show_default=True,
    help="How fast it types.",
)
def rehearse(port: int, pace: str) -> int:
    """Serve the rehearsal's stand-in of the Messages API, for other clients: ANTHROPIC_BASE_URL=http://127.0.0.1:PORT"""
    import uvicorn

    from agentdash.server import PortTaken, bound
    from runs.engine.llm.rehearsal import http

    try:
        sock = bound("127.0.0.1", port)
    except PortTaken as taken:
        raise ground.Refused(str(taken)) from None
    click.echo(f"ANTHROPIC_BASE_URL=http://127.0.0.1:{port}  (any key will do; Ctrl-C ends)", err=True)
    config = uvicorn.Config(http.app(pace=pace), log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[sock])
    return ground.DONE


@click.command()
@ground.as_json
def doctor(as_json: bool) -> int:
    """Check this machine: what is missing, and how to get it."""
    ground.django()
    found = [{"check": check, "ok": not cure, "cure": cure} for check, cure in _checks()]
    if as_json:
        ground.write(found)
    else:
        for line in found:
            click.echo(
                f"{'ok ' if line['ok'] else 'NO '} {line['check']}"
                + (f": {line['cure']}" if line["cure"] else "")
            )
    return ground.DONE if all(line["ok"] for line in found) else ground.NOT_SO


def _checks() -> Iterator[tuple[str, str]]:
    """Name of a check and its cure, "" where all is well."""
    from django.conf import settings

    home = Path(settings.AGENTDASH_HOME)
    yield f"Python {sys.version_info.major}.{sys.version_info.minor}", ""
    yield f"data folder {home}", _folder(home)
    yield "database", _database()
    yield "browser libraries", _libraries(Path(settings.ROOT))
    yield f"port {settings.AGENTDASH.port}", _port(home)
    yield from _sandbox()
    if not settings.AGENTDASH.embedded:
        yield "Redis", _redis(settings.AGENTDASH.redis_url)


def _folder(home: Path) -> str:
    from agentdash.home import network_file_system

    if kind := network_file_system(home):
        return f"it lies on {kind}, where SQLite loses data. Set AGENTDASH_HOME to a local folder."
    if home.stat().st_mode & 0o077:
        return f"others can read it. Close it: chmod 700 {home}"
    return ""


def _database() -> str:
    try:
        ground.guarded("ready")
    except ground.Refused as refusal:
        return refusal.message
    return ""


def _libraries(root: Path) -> str:
    if (root / "static/vendor/lock.sha256").is_file():
        return ""
    return "the chart's library is missing. Install agentdash again: pip install --force-reinstall --no-deps -e ."


def _port(home: Path) -> str:
    from django.conf import settings

    from agentdash.home import holder
    from agentdash.server import PortTaken, bound

    if holder(home):
        return ""
    try:
        bound(settings.AGENTDASH.host, settings.AGENTDASH.port).close()
    except PortTaken as taken:
        return str(taken)
    return ""


def _sandbox() -> Iterator[tuple[str, str]]:
    from runs.engine.sandbox import choose, probe

    for finding in probe.findings(choose(rehearsal=False, python=Path(sys.executable))):
        yield finding.check, "" if finding.ok else finding.cure


def _redis(url: str) -> str:
    import redis

    try:
        redis.Redis.from_url(url, socket_connect_timeout=3).ping()
    except redis.RedisError as error:
        return f"it does not answer: {error}. Check REDIS_URL, and that the server runs."
    return ""


COMMANDS = (rehearse, doctor)
