"""A server for a test, where the program ``farhand`` is installed.

>>> with testing.server() as server, server.client() as farhand:
...     farhand.machines.add("reception")
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from farhand import AsyncFarhand, Farhand
from farhand.errors import FarhandError

START_SECONDS = 60.0
STOP_SECONDS = 30.0

_READY = re.compile(r"listening on (http://[^\s,]+)")
_LOG_SHOWN = 2000


class NoServer(FarhandError):
    """There is no server to test with: it is not installed, or did not start."""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    url: str
    token: str = field(repr=False)
    """Of an administrator."""

    def client(self, **options: Any) -> Farhand:
        """A client of it; the options are those of :class:`farhand.Farhand`."""
        return Farhand(self.url, self.token, **options)

    def async_client(self, **options: Any) -> AsyncFarhand:
        """The same for asyncio."""
        return AsyncFarhand(self.url, self.token, **options)


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """A server with nothing in it, for the time of a ``with`` statement, on a free port.

    It has a MongoDB of its own, which comes with ``farhand[server,embedded-mongodb]``; or else
    ``mongodb_uri`` names one.  ``settings`` are the server's, by their names.  Raises
    :class:`NoServer`.
    """
    program = _program()
    with TemporaryDirectory(prefix="farhand-testing-") as directory:
        data, log = Path(directory) / "data", Path(directory) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - the program that is installed here
                [program, "serve", "--port", "0", "--data-dir", str(data)],
                env=_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            url = _address(process, log)
            yield Server(url, (data / "admin-token").read_text().strip())
        finally:
            _end(process)


def _program() -> str:
    """Beside this interpreter, or on the path."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("farhand", path=beside) or shutil.which("farhand")
    if found is None:
        raise NoServer(
            "there is no program farhand here, which is the server: install it into this "
            "environment, with pip install 'farhand[server,embedded-mongodb]'"
        )
    return found


def _environment(settings: dict[str, str]) -> dict[str, str]:
    """No setting of another server, whose database this one would otherwise use."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FARHAND_")}
    return kept | {f"FARHAND_{name.upper()}": value for name, value in settings.items()}


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Where it is, once it takes requests."""
    ends_at = time.monotonic() + START_SECONDS
    while True:
        is_over = process.poll() is not None or time.monotonic() > ends_at
        said = log.read_text(errors="replace")
        if found := _READY.search(said):
            return found[1]
        if is_over:
            raise NoServer(f"the server did not start:\n{said[-_LOG_SHOWN:].strip()}")
        time.sleep(0.05)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
