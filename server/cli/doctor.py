"""``farhand doctor``: what a server on this host needs, and what is wrong with it."""

import asyncio
import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from schemas.programs.settings import SettingsError
from server.bus.nats_bus import examine as examine_nats
from server.cli.client import Api
from server.cli.serve import server_options
from server.data_directory import ADDRESS_FILE, ADMIN_TOKEN_FILE
from server.errors import StoreError, StoreUnavailable
from server.settings import (
    MACHINE_PREFIX,
    OTHER_VARIABLES,
    ServerSettings,
    read_settings,
)
from server.store.embedded_mongod import find_mongod
from server.store.mongodb.database import Database

LEAST_FREE_BYTES = 500_000_000
"""Less than this, and a database soon stops taking writes."""

DATABASE_SECONDS = 4.0
MONGOD_SECONDS = 20.0
PORT_SECONDS = 2.0
ANSWER_SECONDS = 4.0

MOST_CLOCK_SECONDS = 5.0
"""By which clocks may differ: what ends at a time, such as a token, then ends at another."""


@dataclass(frozen=True)
class Finding:
    """What was found out about one part."""

    part: str
    good: bool
    what: str


@click.command()
@server_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool, config: Path | None, **given: Any) -> None:
    """Look at a server's settings, data, database, NATS, port and token; say what is wrong.

    Run it on the server's host, as the server's user, with the options of farhand serve.  It
    changes nothing.
    """
    findings = list(examine(config, given))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            click.echo(f"{'ok  ' if finding.good else 'FAIL'} {finding.part}: {finding.what}")
    if not all(finding.good for finding in findings):
        raise SystemExit(1)


def examine(config: Path | None, given: dict[str, Any]) -> Iterator[Finding]:
    """Look at every part; nothing else can be looked at where the settings are wrong."""
    try:
        settings = read_settings(config, given)
    except SettingsError as error:
        for line in str(error).splitlines():
            yield Finding("settings", False, line)
        return
    yield Finding("settings", True, _sources(config))
    yield _data_directory(settings.data_dir)
    yield from _database(settings)
    yield from _nats(settings)
    yield from _server(settings)


def _sources(config: Path | None) -> str:
    variables = sorted(
        name
        for name in os.environ
        if name.startswith("FARHAND_")
        and not name.startswith(MACHINE_PREFIX)
        and name not in OTHER_VARIABLES
    )
    file = f"the file {config}" if config else "no file"
    return f"read from {file} and {', '.join(variables) or 'no variable of the environment'}"


def _data_directory(directory: Path) -> Finding:
    existing = directory.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        # Only writing tells: modes say nothing of a read-only or a full file system.
        with tempfile.TemporaryFile(dir=existing) as probe:
            probe.write(b"farhand")
        free = shutil.disk_usage(existing).free
    except OSError as error:
        return Finding("data directory", False, f"{existing} cannot be used: {error.strerror}")
    room = f"{free / 1e9:.1f} GB free"
    if free < LEAST_FREE_BYTES:
        return Finding("data directory", False, f"{directory} has only {room}")
    if existing != directory.absolute():
        return Finding("data directory", True, f"{directory} will be made, {room}")
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & 0o022:
        return Finding("data directory", False, f"others may write to {directory}: chmod go-w it")
    return Finding("data directory", True, f"{directory}, {room}")


def _database(settings: ServerSettings) -> Iterator[Finding]:
    """MongoDB and its clock; of the server's own, which shares ours, that it can be run."""
    try:
        uri = settings.read_mongodb_uri()
        if uri is None:
            yield _embedded(find_mongod())
            return
        # The URI holds a password, so it is not shown.
        ahead = asyncio.run(_reach(uri, settings.mongodb_database))
    except (StoreError, ValueError) as error:
        yield Finding("MongoDB", False, str(error))
        return
    yield Finding("MongoDB", True, f"reached, database {settings.mongodb_database}")
    yield _clock(ahead.total_seconds())


async def _reach(uri: str, name: str) -> timedelta:
    """How far the clock of a MongoDB that Farhand can work with is ahead.  Raises StoreError."""
    database = Database(uri, name, timeout=DATABASE_SECONDS)
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            await database.check()
            await database.check_access()
            return await database.clock_difference()
    except TimeoutError:
        raise StoreUnavailable("MongoDB answers too slowly to be looked at.") from None
    finally:
        database.close()


def _clock(ahead: float) -> Finding:
    """Judge by how many seconds MongoDB's clock is ahead."""
    if abs(ahead) <= MOST_CLOCK_SECONDS:
        return Finding("clock", True, "this host and MongoDB's have the same time")
    return Finding(
        "clock",
        False,
        f"MongoDB's host is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this one: "
        "have both follow a time server (timedatectl set-ntp true)",
    )


def _embedded(binary: Path) -> Finding:
    """Run it once: it may be there and lack a library."""
    try:
        ended = subprocess.run(  # noqa: S603  no shell, and our own arguments
            [str(binary), "--version"], capture_output=True, timeout=MONGOD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("MongoDB", False, f"{binary} cannot be run: {error}")
    said = (ended.stdout if ended.returncode == 0 else ended.stderr).decode(errors="replace")
    first_line = next(iter(said.splitlines()), f"status {ended.returncode}")
    if ended.returncode != 0:
        return Finding("MongoDB", False, f"{binary} cannot be run: {first_line}")
    return Finding("MongoDB", True, f"the server's own: {binary}, {first_line}")


def _nats(settings: ServerSettings) -> Iterator[Finding]:
    """Each server of NATS that is named; the URL may hold a password, so it is not shown."""
    try:
        url = settings.read_nats_url()
    except ValueError as error:
        yield Finding("NATS", False, str(error))
        return
    if url is None:
        return
    for where, reason in asyncio.run(examine_nats(url, "farhand doctor")).items():
        what = f"{where} cannot be used: {reason}" if reason else f"{where} lets us in"
        yield Finding("NATS", not reason, what)


def _server(settings: ServerSettings) -> Iterator[Finding]:
    """The port, and where a server answers at it, whether that works and takes the token."""
    host, port = _reachable(settings)
    token_file = settings.data_dir / ADMIN_TOKEN_FILE
    token = os.environ.get("FARHAND_TOKEN") or _text_of(token_file)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    # What is asked first needs no token, and one that is none should not be in its way.
    open_to_all = Api(address, "none", as_json=False)
    if port == 0 or not _takes_connections(host, port):
        yield _free_port(settings.host, port)
        if not token_file.exists() and (settings.data_dir / "mongodb").exists():
            yield Finding("token", False, f"{token_file} is gone, and it is not made twice")
        return
    live = _answer(open_to_all, "/healthz")
    if not isinstance(live, dict) or "status" not in live:
        yield Finding("port", False, f"something that is no Farhand server listens at {address}")
        return
    yield Finding("port", True, f"a Farhand server answers at {address}")
    yield _ready(_answer(open_to_all, "/readyz"))
    if token is None:
        yield Finding("token", False, f"cannot read {token_file}: run this as the server's user")
        return
    whose = "FARHAND_TOKEN" if os.environ.get("FARHAND_TOKEN") else str(token_file)
    tried = _answer(Api(address, token, as_json=False), "/v1/tokens?limit=1")
    yield _judged("token", tried, f"the server accepts {whose}", whose)


def _reachable(settings: ServerSettings) -> tuple[str, int]:
    """Where a client on this host finds the server, which may listen on every address."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(  # noqa: S104
        settings.host, settings.host
    )
    if settings.port:
        return host, settings.port
    # The system chose the port; the server wrote it down.
    address = _text_of(settings.data_dir / ADDRESS_FILE) or ""
    written = address.rpartition(":")[2]
    return host, int(written) if written.isdecimal() else 0


def _takes_connections(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=PORT_SECONDS).close()
    except OSError:
        return False
    return True


def _free_port(host: str, port: int) -> Finding:
    try:
        family, kind, _, _, place = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[
            0
        ]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        return Finding("port", False, f"cannot listen on {host} port {port}: {error.strerror}")
    which = f"port {port} of {host} is free" if port else "the system will choose one"
    return Finding("port", True, f"{which}; no server runs there now")


def _answer(api: Api, path: str) -> Any:
    """The answer, or what is wrong, as an exception."""
    from farhand import FarhandError, NoAnswer  # noqa: PLC0415 - as in Api.opened()

    try:
        with api.opened(ANSWER_SECONDS) as farhand:
            return farhand.request("GET", path)
    except NoAnswer:
        return FarhandError("the server does not answer")
    except (FarhandError, click.ClickException) as error:
        return error


def _ready(answer: Any) -> Finding:
    """Whether the server can work, and reach the machines of other nodes."""
    if isinstance(answer, dict) and answer.get("bus") == "away":
        what = "it is ready, but NATS is away, so it cannot reach the machines of other nodes"
        return Finding("server", False, what)
    return _judged("server", answer, "it is ready, its database answers")


def _judged(part: str, answer: Any, good: str, about: str = "") -> Finding:
    if isinstance(answer, Exception):
        return Finding(part, False, f"{about}: {answer}" if about else str(answer))
    return Finding(part, True, good)


def _text_of(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
