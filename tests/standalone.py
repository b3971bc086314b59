"""A mongod that is no replica set, as people start one who have not read the documentation."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from server.store.embedded_mongod import find_mongod
from tests.processes import until


@contextlib.contextmanager
def standalone_mongod(directory: Path, *options: str) -> Iterator[str]:
    """Run it with these options; the host and port where it is reached, a unix socket."""
    place = directory / "s.sock"
    process = subprocess.Popen(
        [
            *(str(find_mongod()), "--dbpath", str(directory), "--bind_ip", str(place)),
            *("--nounixsocket", "--quiet", *options),
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        until(lambda: _listens(place), "mongod listens")
        yield str(place)
    finally:
        process.kill()
        process.wait()


def _listens(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(place)) == 0
