"""Large trajectories on a real server: its memory stays flat, and its end leaves nothing half."""

import contextlib
import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.processes import Program, ServedApi, ServerProcess, until
from tests.trajectories import sent

MEBIBYTE = 1024 * 1024
STEP_BYTES = 1_000_000
FEW_STEPS = 100
"""After these, all that is bounded (buffers of the driver and of its threads) is nearly full."""
STEPS = 200
GROWTH_BYTES = 17 * MEBIBYTE


@pytest.fixture
def server(tmp_path: Path) -> ServerProcess:
    return ServerProcess(tmp_path)


def new(api: ServedApi, **fields: Any) -> str:
    """The path of a trajectory that takes steps."""
    answer = api.call("POST", "/v1/trajectories", sent(trajectory_data=[], **fields))
    assert answer.status == 201, answer.body
    return f"/v1/trajectories/{answer.json['id']}"


class Memory:
    """The memory of a process, in bytes."""

    def __init__(self, program: Program) -> None:
        self._directory = Path("/proc", str(program.process.pid))

    def _status(self, name: str) -> int:
        lines = (self._directory / "status").read_text().splitlines()
        (value,) = (line.split()[1] for line in lines if line.startswith(name + ":"))
        return int(value) * 1024

    def peak(self, work: Callable[[], None]) -> int:
        """The most that it had while this was done."""
        (self._directory / "clear_refs").write_text("5")
        work()
        return self._status("VmHWM")


def read(server: ServerProcess, path: str, *, pause: float = 0.0) -> int:
    """Read an answer as it comes, or more slowly than it could; how many bytes it had."""
    token = (server.directory / "data" / "admin-token").read_text().strip()
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        response, size = connection.getresponse(), 0
        assert response.status == 200
        while chunk := response.read(256 * 1024):
            size += len(chunk)
            time.sleep(pause)
        return size


def test_memory_stays_flat_while_200_megabytes_are_appended_and_read(
    server: ServerProcess,
) -> None:
    with server.run() as program, contextlib.closing(server.api()) as api:
        path, memory = new(api), Memory(program)
        step = {"picture": "x" * STEP_BYTES}

        def append(count: int) -> None:
            for _ in range(count):
                assert api.call("POST", f"{path}/steps", {"steps": [step]}).status == 200

        def peaks(appended: int, total: int) -> list[int]:
            def read_back(address: str, pause: float = 0.0) -> None:
                assert read(server, address, pause=pause) > total * STEP_BYTES

            return [
                memory.peak(lambda: append(appended)),
                memory.peak(lambda: read_back(path)),
                memory.peak(lambda: read_back("/v1/trajectories?is_generated=false")),
                # The socket's buffers are full nearly all the time.
                memory.peak(lambda: read_back(path, 0.002)),
            ]

        few = peaks(FEW_STEPS, FEW_STEPS)
        many = peaks(STEPS - FEW_STEPS, STEPS)
        assert max(many) - max(few) < GROWTH_BYTES


class Appender:
    """Appends steps one after another under keys of their own, each until it is acknowledged."""

    def __init__(self, server: ServerProcess, path: str, name: str, step_bytes: int) -> None:
        self._server, self._path, self._name = server, path, name
        self._text = "x" * step_bytes
        self._stopping = threading.Event()
        self.acknowledged = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.closing(self._server.api()) as api:
            while not self._stopping.is_set():
                step = {"by": self._name, "number": self.acknowledged, "text": self._text}
                headers = {"Idempotency-Key": f"{self._name}-{self.acknowledged}"}
                body = {"steps": [step]}
                # Of what was under way when the server was killed nobody knows: the same again.
                with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                    answer = api.call("POST", f"{self._path}/steps", body, headers)
                    self.acknowledged += answer.status == 200

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()


@contextlib.contextmanager
def appending(server: ServerProcess, path: str) -> Iterator[list[Appender]]:
    """Small steps and large ones, to the same trajectory at once."""
    sizes = {"small": 50_000, "large": 700_000}
    appenders = [Appender(server, path, name, size) for name, size in sizes.items()]
    try:
        yield appenders
    finally:
        for appender in appenders:
            appender.stop()


def until_further(appenders: list[Appender], steps: int = 5) -> None:
    """Wait until each has some more acknowledgements."""
    goals = [appender.acknowledged + steps for appender in appenders]

    def reached() -> bool:
        pairs = zip(appenders, goals, strict=True)
        return all(appender.acknowledged >= goal for appender, goal in pairs)

    until(reached, "steps are acknowledged")


def kill_server(program: Program) -> None:
    program.kill()


def kill_mongod(program: Program) -> None:
    """The server ends with its mongod."""
    (mongod,) = (
        pid
        for pid in descendants(program.process.pid)
        if Path("/proc", str(pid), "comm").read_text() == "mongod\n"
    )
    os.kill(mongod, signal.SIGKILL)
    program.ends()


@pytest.mark.parametrize("kills", [[kill_server] * 3, [kill_mongod]], ids=["server", "mongod"])
def test_steps_appended_around_kills_are_each_there_once(
    server: ServerProcess, kills: list[Callable[[Program], None]]
) -> None:
    with server.run() as program, contextlib.closing(server.api()) as api:
        path = new(api)
        program.kill()
    with appending(server, path) as appenders:
        for kill in kills:
            with server.run() as program:
                until_further(appenders)
                kill(program)
        with server.run():
            until_further(appenders)
            for appender in appenders:
                appender.stop()
            check(server, path, appenders)


def check(server: ServerProcess, path: str, appenders: list[Appender]) -> None:
    """Each acknowledged step is there once, in the order of its appender."""
    with contextlib.closing(server.api()) as api:
        steps = api.call("GET", path).json["trajectory_data"]
        for appender in appenders:
            numbers = [step["number"] for step in steps if step["by"] == appender._name]
            assert numbers == list(range(appender.acknowledged))
        assert api.call("DELETE", path).status == 204


def descendants(pid: int) -> Iterator[int]:
    """Every process below another."""
    for task in Path("/proc", str(pid), "task").iterdir():
        children = ""
        # A mongod's thread ends with its connection, maybe since it was listed.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            children = (task / "children").read_text()
        for child in map(int, children.split()):
            yield child
            yield from descendants(child)


def test_answer_of_a_killed_server_does_not_look_whole(server: ServerProcess) -> None:
    with server.run() as program, contextlib.closing(server.api()) as api:
        path = new(api)
        for _ in range(12):
            api.call("POST", f"{path}/steps", {"steps": [{"text": "x" * STEP_BYTES}]})
        token = (server.directory / "data" / "admin-token").read_text().strip()
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            beginning = response.read(1000)
            program.kill()
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                json.loads(beginning + response.read())
