"""What a worker stands on: everything was taken by its parent, and stays the parent's."""

import socket

from server.foundation import StartError, listen_on
from server.workers.place import WorkerPlace


class InheritedFoundation:
    """The port and the database of one worker.

    All workers of a parent accept connections from the same sockets.  The first that can answer
    lets connections come, and for the others that changes nothing.
    """

    embedded = None

    def __init__(self, place: WorkerPlace) -> None:
        self.group: str | None = place.group
        self._settings = place.settings
        try:
            self._sockets = [socket.socket(fileno=each) for each in place.sockets]
            self.port: int = self._sockets[0].getsockname()[1]
        except OSError as error:
            raise StartError(f"a worker has inherited no sockets to listen on: {error}") from None
        for each in self._sockets:
            each.set_inheritable(False)

    async def mongodb_uri(self) -> str:
        """Where MongoDB is; the parent starts a worker when it takes writes."""
        uri = self._settings.mongodb_uri
        if uri is None:
            raise StartError("a worker was not told where MongoDB is")
        return uri

    def listen(self) -> list[socket.socket]:
        """Let connections come; the sockets are the caller's from now on.  Raises StartError."""
        listen_on(self._sockets, self._settings.host, self.port)
        sockets, self._sockets = self._sockets, []
        return sockets

    async def release(self) -> None:
        """Close what is still held."""
        for each in self._sockets:
            each.close()
