"""The process of a worker, from its start to its end."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.settings import ServerSettings
from server.workers.place import WorkerPlace
from server.workers.process import WorkerProcess
from tests.processes import WAIT_SECONDS


@pytest.fixture
def process(bound: socket.socket) -> Iterator[WorkerProcess]:
    process = WorkerProcess([bound.fileno()], testing=False)
    yield process
    process.kill()


def place(tmp_path: Path, uri: str) -> WorkerPlace:
    settings = ServerSettings(data_dir=tmp_path, mongodb_uri=uri, node_name="test-1")
    return WorkerPlace(group="g1", settings=settings, sockets=(0,), reports=-1)


async def test_worker_that_cannot_start_says_why(process: WorkerProcess, tmp_path: Path) -> None:
    process.hand_over(place(tmp_path, "nonsense"))
    (report,) = [each async for each in process.reports()]
    assert "MongoDB URI" in str(report.error)
    assert await process.until_ended() == 1
    assert process.status == 1


async def test_worker_answers_on_the_sockets_that_it_was_given(
    process: WorkerProcess, bound: socket.socket, tmp_path: Path, mongodb: str
) -> None:
    process.hand_over(place(tmp_path, mongodb))
    reports = process.reports()
    assert (await anext(reports)).error is None
    with socket.create_connection(bound.getsockname(), timeout=WAIT_SECONDS) as client:
        client.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
    process.terminate()
    assert [each async for each in reports] == []
    assert await process.until_ended() == 0


async def test_secrets_are_neither_in_its_arguments_nor_in_its_environment(
    process: WorkerProcess, tmp_path: Path
) -> None:
    process.hand_over(place(tmp_path, "mongodb://user:pass-word@host.invalid/"))
    assert b"pass-word" not in shown(process.pid, "cmdline") + shown(process.pid, "environ")
    assert os.getsid(process.pid) != os.getsid(0)
    process.kill()
    await process.until_ended()
    assert [each async for each in process.reports()] == []


def shown(pid: int, file: str) -> bytes:
    return Path(f"/proc/{pid}/{file}").read_bytes()


async def test_worker_that_has_ended_takes_no_place(process: WorkerProcess, tmp_path: Path) -> None:
    process.terminate()
    assert await process.until_ended() == -15
    process.hand_over(place(tmp_path, "nonsense"))
    assert [each async for each in process.reports()] == []
