"""The benchmark of a fleet runs, at a size that says nothing: so that it cannot rot."""

import asyncio
import resource
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

from benchmarks.fleet.balancing import Balancer
from benchmarks.fleet.keyed_inputs import Insisted, KeyedInputs, insisting
from benchmarks.fleet.websocket import WebSocketClient

COMMAND = (sys.executable, "-m", "benchmarks.fleet")


def run(
    *options: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*COMMAND, *options),
        capture_output=True,
        text=True,
        timeout=280,
        preexec_fn=before,
        check=False,
    )


def rows_of(table: str) -> dict[str, list[str]]:
    """What stands behind each row's name."""
    return {line[:42].strip(): line[42:].split() for line in table.splitlines()}


@pytest.mark.timeout(300)
def test_measures_and_prints_a_table() -> None:
    ended = run("--machines", "15", "--few", "5", "--heartbeat", "1", "--window", "1.3")
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(ended.stdout)
    assert float(rows["farhand"][2]) > 0
    assert float(rows["bare Tornado websockets"][2]) > 0
    for name in ("at first", "after SIGKILL", "after SIGTERM"):
        assert float(rows[name][3]) >= float(rows[name][1]) >= 0
    assert rows["an input, all at rest"][-1] == "0"
    assert rows["an input, after SIGKILL"][0] != "nan"
    assert "at most 20" in ended.stdout


def test_says_where_too_few_files_may_be_open() -> None:
    ended = run(
        "--machines",
        "5000",
        before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000)),
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        "5100 machines need 5600 open files in one process, and this system allows 1000: raise "
        "the hard limit (ulimit -Hn 5600, as root) or take fewer machines\n"
    )
    assert ended.stdout == ""


@pytest.mark.timeout(300)
def test_measures_several_nodes_and_kills_one() -> None:
    ended = run("--nodes", "2", "--machines", "8", "--heartbeat", "1", "--window", "1.3")
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(ended.stdout)
    rest = {line[:30].strip(): line[30:].split() for line in ended.stdout.splitlines()}
    assert [rest[name][0] for name in ("node-1", "node-2", "all nodes")] == ["4", "4", "8"]
    # A second of so few machines may take less processor time than the system counts.
    assert float(rest["one node"][-1]) > 0
    assert float(rest["all nodes"][-1]) > 0
    assert rest["nats-server"][0] == rest["mongod"][0] == "8"
    assert rows["at first"][0] == "8"
    assert rows["after SIGKILL"][0] == "4"
    assert rows["machines of the killed node"] == ["4"]
    assert rows["machines at each of the others then"] == ["8"]
    for name in ("all at rest", "its machines, after SIGKILL", "others' machines, after SIGKILL"):
        assert int(rows[name][0]) > 0
        assert rows[name][-1] == "0"
    assert "at most 1.1" in ended.stdout


def test_wants_two_machines_for_each_node() -> None:
    ended = run("--nodes", "3", "--machines", "5")
    assert ended.returncode == 2
    assert "each node needs two machines at least" in ended.stderr


def test_leads_past_nodes_that_refuse_and_spreads_what_they_would_have_had() -> None:
    async def connect(port: int) -> int:
        if port == 3:
            raise ConnectionRefusedError
        return port

    async def connections(ports: list[int]) -> Counter[int]:
        balancer = Balancer(ports)
        return Counter([await balancer.connect(connect) for _ in range(6)])

    assert asyncio.run(connections([1, 2, 3])) == {1: 3, 2: 3}
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(connections([3, 3]))


PROBLEM = (503, b'{"final":false}')
FINAL = (503, b'{"final":true}')
DONE = (200, b"{}")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([DONE], (1, 0, 0)), ([PROBLEM, PROBLEM, DONE], (1, 2, 0)), ([PROBLEM, FINAL], (0, 1, 1))],
)
def test_asks_under_one_key_until_an_answer_is_final(
    answers: list[tuple[int, bytes]], expected: tuple[int, int, int]
) -> None:
    keys = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        keys.append(head.partition("Idempotency-Key: ")[2].partition("\r\n")[0])
        status, body = answers[len(keys) - 1]
        writer.write(
            b"HTTP/1.1 %d .\r\nRetry-After: 0.01\r\nContent-Length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )
        writer.close()

    async def send() -> Insisted:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            clients = KeyedInputs([server.sockets[0].getsockname()[1]], "token")
            async with insisting(clients, ["bench-0"]) as insisted:
                await asyncio.sleep(0.05)
            return insisted[0]

    insisted = asyncio.run(send())
    assert (len(insisted.seconds), insisted.again, insisted.failures) == expected
    assert len(keys) == len(answers)
    assert len(set(keys)) == 1


class Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written = b""
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


class Client(WebSocketClient):
    """Remembers what came."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[bytes] = []

    def request(self) -> str:
        return "GET / HTTP/1.1\r\n"

    def on_text(self, text: bytes) -> None:
        self.texts.append(text)


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_takes_frames_however_they_are_cut(step: int) -> None:
    client, transport, long = Client(), Transport(), b"x" * 300
    client.connection_made(cast("Any", transport))
    transport.written = b""
    came = b"HTTP/1.1 101 Switching Protocols\r\nServer: bare\r\n\r\n"
    came += b"\x81\x02hi\x89\x04ping" + b"\x81\x7e" + struct.pack(">H", 300) + long
    came += b"\x88\x05\x0f\xa0bye"
    for start in range(0, len(came), step):
        client.data_received(came[start : start + step])
    assert client.texts == [b"hi", long]
    assert (client.close_code, client.close_reason) == (4000, "bye")
    assert transport.written == b"\x8a\x84\0\0\0\0ping" + b"\x88\x82\0\0\0\0\x0f\xa0"
    assert transport.is_closed
