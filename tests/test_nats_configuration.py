"""config/nats.conf with a real nats-server: nodes speak through it, and nobody else does."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from nats.errors import NoRespondersError

from server.bus.nats_bus import NatsBus, examine
from server.bus.nats_server import find_nats_server
from server.tasks import Tasks
from tests.buses import echo
from tests.certificates import self_signed
from tests.processes import free_port, until
from tests.waiting import WAIT_SECONDS
from tests.waiting import until as until_here

TEXT = (Path(__file__).parent.parent / "config" / "nats.conf").read_text()
OTHERS = '  OTHERS: { users: [ { user: "other", password: "secret" } ] }\n'


class Served:
    """A nats-server that runs with our configuration, and an account more."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        certificate, key = self_signed(directory)
        self.certificate = certificate
        text = TEXT.replace("0.0.0.0:4222", f"127.0.0.1:{self.port}")
        text = text.replace("/etc/nats/server.pem", str(certificate))
        text = text.replace("/etc/nats/server.key", str(key))
        text = text.replace("accounts {\n", "accounts {\n" + OTHERS)
        self.configuration = directory / "nats.conf"
        self.configuration.write_text(text)
        self.environment = {**os.environ, "NATS_NAME": "nats1", "NATS_PASSWORD": "pa55"}

    def url(self, user: str = "farhand:pa55") -> str:
        return f"tls://{user}@127.0.0.1:{self.port}"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    found = Served(tmp_path)
    # As a system's own store would have it.
    monkeypatch.setenv("SSL_CERT_FILE", str(found.certificate))
    log = (tmp_path / "log").open("wb")
    command = [str(find_nats_server()), "--config", str(found.configuration)]
    with log, subprocess.Popen(command, env=found.environment, stderr=log) as process:
        try:
            until(lambda: b"Server is ready" in (tmp_path / "log").read_bytes(), "it is ready")
            yield found
        finally:
            process.kill()


@contextlib.asynccontextmanager
async def connected(served: Served) -> AsyncIterator[NatsBus]:
    tasks = Tasks()
    bus = NatsBus(served.url(), tasks, name="node")
    bus.start()
    await until_here(lambda: bus.is_connected)
    try:
        yield bus
    finally:
        await bus.close()
        await tasks.close(0)


@contextlib.asynccontextmanager
async def client(served: Served, user: str) -> AsyncIterator[tuple[Client, list[str]]]:
    """nats-py itself, and what the server has complained of."""
    complaints: list[str] = []

    async def complain(error: Exception) -> None:
        complaints.append(str(error))

    found = await nats.connect(served.url(user), error_cb=complain, max_reconnect_attempts=1)
    try:
        yield found, complaints
    finally:
        await found.close()


async def test_nodes_reach_one_another_by_tls(served: Served) -> None:
    async with connected(served) as one, connected(served) as other:
        one.answer("farhand.tag.node.1", echo)
        await until_answered(other)
    assert set((await examine(served.url(), "doctor")).values()) == {""}
    (refused,) = (await examine(served.url("farhand:wrong"), "doctor")).values()
    assert "authorization" in refused.lower()


async def said(bus: NatsBus) -> bytes:
    with contextlib.suppress(Exception):  # until it answers
        return await bus.request("farhand.tag.node.1", b"it", 1)
    return b""


async def test_other_accounts_neither_hear_nor_ask_nodes(served: Served) -> None:
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(message)

    async with (
        connected(served) as node,
        connected(served) as asking,
        client(served, "other:secret") as (other, _),
    ):
        node.answer("farhand.tag.node.1", echo)
        await until_answered(asking)
        with pytest.raises(NoRespondersError):
            await other.request("farhand.tag.node.1", b"it", timeout=WAIT_SECONDS)
        await other.subscribe(">", cb=hear)
        await other.flush()
        await until_answered(asking)
        await other.flush()
    assert heard == []


async def until_answered(bus: NatsBus) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while await said(bus) != b"to it":  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)


async def test_nodes_take_no_more_than_their_own_subjects(served: Served) -> None:
    async with client(served, "farhand:pa55") as (node, complaints):
        await node.publish("elsewhere", b"it")
        await node.subscribe("elsewhere")
        await node.flush()
        await until_here(lambda: len(complaints) == 2)
        assert all("permissions violation" in each.lower() for each in complaints)
