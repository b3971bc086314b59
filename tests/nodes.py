"""Several nodes of one installation in one process, over a real NATS and a real MongoDB."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.link.messages import Hello
from server.dispatch.questions.control import FindLink
from server.nodes import drain
from tests.service import (
    PATIENCE_SECONDS,
    ScriptedLink,
    ScriptedMachine,
    Service,
    in_new_organization,
    running_server,
    until,
)


@asynccontextmanager
async def running_nodes(
    mongodb: str, database: str, nats_url: str, directory: Path, *names: str, **settings: Any
) -> AsyncIterator[list[Service]]:
    """A node with each of these names; one organization, as each of them sees it."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(
                running_server(
                    mongodb,
                    directory / name,
                    database,
                    nats_url=nats_url,
                    node_name=name,
                    **settings,
                )
            )
            for name in names
        ]
        first = await in_new_organization(servers[0])
        nodes = [Service(server, first.organization_id, first.token) for server in servers]
        await until_together(nodes)
        yield nodes
        # All of them end: there is none that clients would go to with their next request.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(drain, "LEAST_SECONDS", 0.0)
            await stack.aclose()


async def until_together(nodes: list[Service]) -> None:
    """Wait until all nodes reach one another."""
    # Each says that it is there, and then looks: in a second both would come by themselves.
    for node in (*nodes, *nodes):
        await node.server.services.cluster.presence.beat()
    for node in nodes:
        cluster = node.server.services.cluster
        await until(lambda: cluster.bus.is_connected)  # noqa: B023 - awaited
        await until(lambda: len(cluster.presence.others) == len(nodes) - 1)  # noqa: B023


def at(node: Service, machine: ScriptedMachine) -> ScriptedMachine:
    """The same machine, reached through another node."""
    return replace(machine, service=node)


async def until_reached(node: Service, machine: ScriptedMachine | str) -> None:
    """Wait until a node reaches a machine elsewhere."""
    elsewhere = node.server.services.cluster.elsewhere
    machine_id = machine if isinstance(machine, str) else machine.machine_id

    async def is_reached() -> bool:
        question = FindLink(organization_id=node.organization_id, machine_id=machine_id)
        return await elsewhere.tell(question)

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await is_reached():  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)


@asynccontextmanager
async def reached(
    nodes: list[Service], greeting: Hello | None = None
) -> AsyncIterator[tuple[ScriptedMachine, ScriptedLink]]:
    """A new machine whose link is on the first of two nodes, and which the second reaches."""
    here, there = nodes
    async with here.joined(greeting) as (machine, link):
        await until_reached(there, machine)
        yield machine, link
