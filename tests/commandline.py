"""The command ``farhand`` as people use it: in this process, and as a process of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from click.testing import CliRunner, Result

from server.cli import farhand
from tests.processes import WAIT_SECONDS, Process, ended, started


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without anybody's settings of Farhand, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FARHAND_")}
    return {**kept, **variables}


def run(*arguments: str, stdin: bytes = b"", **variables: str) -> Result:
    """Run ``farhand`` in this process; the result has exit code, standard output and error."""
    cleared: Mapping[str, str | None] = {
        **{name: None for name in os.environ if name.startswith("FARHAND_")},
        **variables,
    }
    return CliRunner().invoke(farhand, arguments, input=stdin, env=cleared, prog_name="farhand")


def run_process(
    *arguments: str, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run ``farhand`` as a process and wait for its end."""
    return ended(["farhand", *arguments], environment(**(variables or {})))


def command(arguments: Sequence[str]) -> list[str]:
    """The command line that starts ``farhand`` with the interpreter of the tests."""
    return [sys.executable, "-m", "server", *arguments]


@dataclass
class Served:
    """A ``farhand serve`` process that is ready."""

    process: Process
    data_dir: Path
    output: IO[bytes]

    @property
    def url(self) -> str:
        """The server's address."""
        return (self.data_dir / "address").read_text().strip()

    def run(self, *arguments: str, stdin: bytes = b"") -> Result:
        """Run an administrative command on the server's own host."""
        return run(*arguments, stdin=stdin, FARHAND_DATA_DIR=str(self.data_dir))

    def stop(self) -> str:
        """End it as an operator does, and return everything that it logged."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(WAIT_SECONDS)
        return self.said()

    def said(self) -> str:
        """Everything that it has logged so far."""
        self.output.seek(0)
        return self.output.read().decode()


@contextmanager
def serving(
    mongodb: str | None, data_dir: Path, database: str, *options: str, **variables: str
) -> Iterator[Served]:
    """A server process on a free port; ``mongodb`` None lets it start a MongoDB of its own."""
    settings = {"FARHAND_MONGODB_DATABASE": database, **variables}
    if mongodb is not None:
        settings["FARHAND_MONGODB_URI"] = mongodb
    # A file, as nobody reads while it runs: a pipe would be full some day, and the server wait.
    with TemporaryFile("a+b") as output:
        arguments = ["serve", "--port", "0", "--data-dir", str(data_dir), *options]
        process = started(["farhand", *arguments], environment(**settings), output)
        served = Served(process, data_dir, output)
        try:
            _await_ready(served)
            yield served
        finally:
            process.terminate()
            try:
                process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_ready(served: Served) -> None:
    give_up_at = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < give_up_at:
        if served.process.poll() is not None:
            raise AssertionError(f"the server ended: {served.said()}")
        try:
            urllib.request.urlopen(served.url + "/readyz", timeout=WAIT_SECONDS).close()
        except (OSError, ValueError, urllib.error.URLError):
            time.sleep(0.02)
        else:
            return
    raise AssertionError("the server was not ready in time")
