"""A nats-server for tests, which can be killed, stopped, continued and started again."""

import os
import signal
import socket
from pathlib import Path

from server.bus.nats_server import find_nats_server
from server.programs.child_program import ChildProgram
from tests.processes import free_port, go_on, stop, until


class NatsServer:
    """One nats-server, always at the same port; ``url`` has a password in it."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self.url = f"nats://tests:secret@127.0.0.1:{self.port}"
        self._directory = directory
        self._configuration = directory / "nats.conf"
        self._program: ChildProgram | None = None
        self.set_password("secret")

    def set_password(self, password: str, more: str = "") -> None:
        """Want another one from the next start on, and let ``more`` be in the configuration."""
        self._configuration.write_text(
            f'listen: "127.0.0.1:{self.port}"\n'
            f'authorization {{ user: "tests", password: "{password}" }}\n{more}'
        )

    @property
    def pid(self) -> int:
        """Its process id; it must run."""
        assert self._program is not None
        return self._program.pid

    def start(self) -> None:
        """Start it, unless it runs, and wait until it takes connections."""
        if self._program is None:
            self._program = ChildProgram(
                [str(find_nats_server()), "--config", str(self._configuration)],
                directory=self._directory,
                log=self._directory / "nats.log",
            )
        until(self._listens, "nats-server takes connections")

    def kill(self) -> None:
        """End it as a crash does, and wait until it is gone."""
        program, self._program = self._program, None
        if program is not None:
            os.kill(program.pid, signal.SIGKILL)
            until(lambda: program.status is not None, "nats-server is gone")

    def stop(self) -> None:
        """Let it hang; it does nothing more when this returns."""
        stop(self.pid)

    def go_on(self) -> None:
        """Let it run again."""
        go_on(self.pid)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
