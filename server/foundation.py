"""What a server stands on, taken before anything else: its port, its directory, its MongoDB.

Taking them needs little of the program, and MongoDB's recovery takes longer than anything else at
a start: the rest of the program is loaded meanwhile.
"""

import errno
import logging
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from server.data_directory import ADDRESS_FILE
from server.settings import ServerSettings
from server.store.embedded_mongod import EmbeddedMongoDB

logger = logging.getLogger(__name__)

BACKLOG: Final = 1024
"""Connections that may wait to be accepted: all machines of a server come back at once."""


class StartError(Exception):
    """The server cannot start; the message says why and what to do, for a person."""


class TakenFoundation(Protocol):
    """What a server stands on, once it is taken, by the server itself or by its parent.

    ``embedded`` is the MongoDB without which this server is of no use.  ``group`` is the same for
    all that one parent runs, and None for a server without a parent.
    """

    @property
    def group(self) -> str | None:
        """The name of those who have one parent."""

    @property
    def port(self) -> int:
        """The port that is taken."""

    @property
    def embedded(self) -> EmbeddedMongoDB | None:
        """The MongoDB that ends with this server, if there is one."""

    async def mongodb_uri(self) -> str:
        """Where MongoDB is reached, once it can be."""

    def listen(self) -> list[socket.socket]:
        """Let connections come; the sockets are the caller's from now on.  Raises StartError."""

    async def release(self) -> None:
        """Give back what is still held."""


class Foundation:
    """Port, data directory and embedded MongoDB of one server: ``take``, then ``release``.

    ``sockets`` are bound, but refuse connections until ``listen``: whoever finds no server tries
    again after a while of its own choice, where all who wait in a queue would come at once.
    """

    group: str | None = None

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self.sockets: list[socket.socket] = []
        self.port = 0
        self.embedded: EmbeddedMongoDB | None = None
        self._uri: str | None = None

    def take(self) -> None:
        """Take the port, make the directory, start mongod; wait for nothing.

        Raises StartError or EmbeddedMongoDBError; then ``release`` what is taken so far.
        """
        settings = self._settings
        self.sockets = bind(settings.host, settings.port)
        self.port = self.sockets[0].getsockname()[1]
        make_private(settings.data_dir)
        try:
            self._uri = settings.read_mongodb_uri()
        except ValueError as error:
            raise StartError(str(error)) from None
        if self._uri is None:
            self.embedded = EmbeddedMongoDB(settings.data_dir / "mongodb")
            self.embedded.launch()

    async def mongodb_uri(self) -> str:
        """Where MongoDB is reached, once the embedded one can be."""
        if self.embedded is None:
            assert self._uri is not None  # noqa: S101  else there is one
            return self._uri
        return await self.embedded.until_ready()

    @property
    def address(self) -> str:
        """Where the server is reached, such as ``http://127.0.0.1:8600``."""
        return address_of(self._settings.host, self.port)

    def listen(self) -> list[socket.socket]:
        """Let connections come; the sockets are the caller's from now on.

        Raises StartError where another server, which started at the same time, was faster.
        """
        listen_on(self.sockets, self._settings.host, self.port)
        self.write_address()
        sockets, self.sockets = self.sockets, []
        return sockets

    def write_address(self) -> None:
        """Say in the data directory where the server is reached.  Raises StartError."""
        write_private(self._settings.data_dir / ADDRESS_FILE, self.address)

    def refuse(self) -> None:
        """Close the sockets that are still held here."""
        for each in self.sockets:
            each.close()

    async def release(self) -> None:
        """Give back what is still held, and end mongod."""
        self.refuse()
        if self.embedded is not None:
            await self.embedded.stop()


def bind(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host, all with one port; none takes connections yet."""
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        ):
            each = socket.socket(family, kind, protocol)
            sockets.append(each)
            each.setblocking(False)
            # Connections of a server that has just ended are no reason to refuse the next.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # The addresses of version 4 have a socket of their own.
                each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            each.bind((address[0], port, *address[2:]))
            # Where the system chooses the port, it chooses for the first.
            port = each.getsockname()[1]
    except OSError as error:
        for each in sockets:
            each.close()
        raise _cannot_listen(host, port, error) from None
    return sockets


def listen_on(sockets: list[socket.socket], host: str, port: int) -> None:
    """Let connections come.  Raises StartError where another server was faster."""
    try:
        for each in sockets:
            each.listen(BACKLOG)
    except OSError as error:
        raise _cannot_listen(host, port, error) from None


def address_of(host: str, port: int) -> str:
    """Where a server is reached, such as ``http://127.0.0.1:8600``."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _cannot_listen(host: str, port: int, error: OSError) -> StartError:
    return StartError(
        f"cannot listen on {host} port {port}: {error.strerror or error}; choose another "
        "with --host and --port"
    )


def make_private(directory: Path) -> None:
    """Make a directory, and those above it, for their owner alone, where they are not there.

    One of ours that is there, and into which others can write, is closed for them.
    """
    try:
        # One after another: the modes of those above would be whatever the umask leaves.
        for each in (*reversed(directory.parents), directory):
            with suppress(FileExistsError):
                each.mkdir(mode=0o700)
        _keep_others_from_writing(directory)
    except OSError as error:
        raise StartError(
            f"cannot use the data directory {directory}: {error.strerror}; choose another with "
            "--data-dir"
        ) from None


def _keep_others_from_writing(directory: Path) -> None:
    """Let nobody else write into a directory, unless it is somebody else's, or one like /tmp."""
    found = directory.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    is_open = bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    if not is_open or found.st_mode & stat.S_ISVTX or found.st_uid != os.geteuid():
        return
    directory.chmod(stat.S_IMODE(found.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
    logger.warning("others could write into %s, and cannot any more", directory)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    draft = file.with_suffix(".draft")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(text + "\n")
        draft.replace(file)
    except OSError as error:
        raise cannot_write(file, error) from None


def cannot_write(file: Path, error: OSError) -> StartError:
    """What to say where a file of the data directory cannot be written."""
    return StartError(
        f"cannot write {file}: {error.strerror}; choose another data directory with --data-dir"
    )
