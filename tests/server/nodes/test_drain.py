"""A node that ends while others go on: its machines move, and what is under way ends."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from schemas.link.close_codes import MOVED_REASON, CloseCode
from schemas.link.messages import Input
from server.dispatch import handover
from server.errors import StoreUnavailable
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.nodes import drain
from server.nodes.drain import Drain
from tests.nodes import at, running_nodes, until_reached
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service, new_key, until


class Link:
    """A link that is closed at once."""

    def __init__(self, links: dict["Link", None], *, is_idle: bool = True) -> None:
        self.is_idle = is_idle
        self._links = links
        links[self] = None

    def close(self, code: CloseCode, reason: str) -> None:
        assert (code, reason) == (CloseCode.MOVED, MOVED_REASON)
        del self._links[self]


class Registry:
    """Open links, as often as they are looked at."""

    def __init__(self) -> None:
        self.links: dict[Link, None] = {}
        self.seen: list[int] = []
        self.moved = 0

    @property
    def open_links(self) -> int:
        return len(self.links)

    def __iter__(self) -> Iterator[Link]:
        self.seen.append(len(self.links))
        return iter(tuple(self.links))


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "GROUP_SECONDS", 0.01)


async def comes_at_once(_: LinkSocket) -> bool:
    return True


def draining(registry: Registry, is_back: drain.IsBack = comes_at_once) -> Drain:
    return Drain(cast("LinkRegistry", registry), is_back)


@pytest.mark.parametrize(("links", "group"), [(25, 10), (3000, 30)])
async def test_links_are_moved_in_small_groups(links: int, group: int) -> None:
    registry = Registry()
    for _ in range(links):
        Link(registry.links)
    await draining(registry).run(30)
    assert list(dict.fromkeys(registry.seen)) == [*range(links, 0, -group), 0]
    assert registry.moved == links


async def test_next_group_waits_until_the_one_before_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drain, "LEAST_GROUP", 2)
    monkeypatch.setattr(drain, "PATIENCE_SECONDS", 30.0)
    registry = Registry()
    links = [Link(registry.links) for _ in range(6)]
    asked: list[Link] = []

    async def is_back(link: LinkSocket) -> bool:
        asked.append(cast("Link", link))
        return asked.count(cast("Link", link)) > 2

    await draining(registry, is_back).run(30)
    assert asked == [each for first in (0, 2, 4) for each in links[first : first + 2] * 3]


@pytest.mark.parametrize("is_away", [True, False])
async def test_group_that_does_not_come_back_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch, *, is_away: bool
) -> None:
    monkeypatch.setattr(drain, "PATIENCE_SECONDS", 0.05)
    registry = Registry()
    for _ in range(15):
        Link(registry.links)

    async def is_back(_: LinkSocket) -> bool:
        if is_away:
            raise StoreUnavailable("The database does not answer.")
        return False

    async with asyncio.timeout(PATIENCE_SECONDS):
        await draining(registry, is_back).run(30)
    assert not registry.links


async def test_machine_that_is_busy_moves_when_it_is_not_or_never() -> None:
    registry = Registry()
    busy = Link(registry.links, is_idle=False)
    moving = draining(registry)
    await moving.run(0.1)
    assert list(registry.links) == [busy]
    busy.is_idle = True
    await moving.run(30)
    assert not registry.links


async def test_running_input_ends_before_its_machine_moves(
    mongodb: str,
    database_name: str,
    nats_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handover, "MOVING_SECONDS", 20.0)
    monkeypatch.setattr(handover, "JUST_MILLISECONDS", 60_000)
    async with (
        running_nodes(mongodb, database_name, nats_url, tmp_path, "leaves", "stays") as nodes,
        asyncio.TaskGroup() as background,
    ):
        leaves, stays = nodes
        idle, busy = await leaves.new_machine("idle"), await leaves.new_machine("busy")
        async with idle.connected() as idle_link, busy.connected() as busy_link:
            await until_reached(stays, busy)
            sending = background.create_task(at(stays, busy).move(new_key()))
            command = await busy_link.heard(Input)
            stopping = background.create_task(leaves.server.stop())
            assert (await idle_link.closed())[0] == CloseCode.MOVED
            # Whoever sends input to a machine that moves waits for it.
            await until_away(stays, idle)
            moving = background.create_task(at(stays, idle).move(new_key()))
            async with at(stays, idle).connected() as moved_link:
                # Nor does it keep this one that the other machine is busy.
                await moved_link.obeys(moving)
            assert not stopping.done()
            await busy_link.acknowledge(command.command_id)
            assert (await sending).status == 200
            assert (await busy_link.closed())[0] == CloseCode.MOVED
            await stopping


async def until_away(node: Service, machine: ScriptedMachine) -> None:
    """Wait until the database knows that a machine has no link."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        path = f"/v1/machines/{machine.machine_id}"
        while (await node.get(path)).json["state"] != "offline":  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)


def request_for(service: Service, path: str) -> bytes:
    authorization = f"Authorization: Bearer {service.token}"
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{authorization}\r\n\r\n".encode()


async def asked(service: Service, *paths: str) -> list[tuple[int, bool]]:
    """One request after the other on a connection; each status, and whether it is to be closed.

    Between the first and the second the service is told to end.
    """
    reader, writer = await service.open_connection()
    answers = []
    for number, path in enumerate(paths):
        if number == 1:
            await until(lambda: service.server.services.operation.leaving)
        writer.write(request_for(service, path))
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].split()[0])
            await reader.readexactly(length)
        answers.append((int(head.split()[1]), "connection: close" in head))
    writer.close()
    return answers


async def test_node_that_leaves_answers_and_sends_everybody_elsewhere(
    mongodb: str, database_name: str, nats_url: str, tmp_path: Path
) -> None:
    async with (
        running_nodes(mongodb, database_name, nats_url, tmp_path, "leaves", "stays") as nodes,
        asyncio.TaskGroup() as background,
    ):
        leaves, _ = nodes
        busy = await leaves.new_machine("busy")
        async with busy.connected() as link:
            sending = background.create_task(busy.move(new_key()))
            command = await link.heard(Input)
            asking = background.create_task(
                asked(leaves, "/readyz", "/readyz", "/v1/machines", "/v1/machines")
            )
            listening = background.create_task(heard_until_its_end(leaves))
            await until(lambda: leaves.server.services.events.subscribers == 1)
            background.create_task(leaves.server.stop())
            assert await asking == [(200, False), (503, True), (200, True), (200, True)]
            assert (await listening).endswith(
                ": the server is stopping; come back with last-event-id\n\n\r\n0\r\n\r\n"
            )
            await link.acknowledge(command.command_id)
            assert (await sending).status == 200


async def heard_until_its_end(service: Service) -> str:
    """A stream of events, until its connection is closed."""
    reader, writer = await service.open_connection()
    writer.write(request_for(service, "/v1/events"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        heard = await reader.read()
    writer.close()
    return heard.decode().lower()
