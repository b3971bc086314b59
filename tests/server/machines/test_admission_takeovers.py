"""Two clients with one token, on real websockets: who has the link, and what the other is told."""

import asyncio

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import Welcome
from server.machines.link.rivals import MOST_RIVALS, Rival
from tests.links import hello
from tests.service import ScriptedLink, Service, until

YIELDING = hello(yields=True)


async def test_yielding_client_never_takes_over_a_live_link(service: Service) -> None:
    machine = await service.new_machine()
    registry = service.server.services.machines.registry
    async with machine.connected() as link:
        live = await machine.until_live()
        for _ in range(3):
            async with machine.opened(YIELDING) as yielding:
                code, reason = await yielding.closed()
                assert code == CloseCode.TAKEN_OVER
                assert "token of its own" in reason
        await link.obeys(machine.moving())
        assert await machine.until_live() is live
        assert registry.takeovers == 0
        stored = await service.stores.machines.get(service.organization_id, "desk-1")
        assert stored is not None
        assert stored.epoch == live.epoch


async def test_clones_of_one_disk_are_told_with_the_remedy(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await service.new_machine()
    async with machine.connected(hello(host="till-1")) as link:
        live = await machine.until_live()
        async with machine.opened(hello(yields=True, host="renamed")) as second:
            await second.closed()
        assert "from the same host: stop one" in await reason(service)
        for number in (2, 3, 3):
            clone = hello(yields=True, boot_id=f"boot-{number}", host=f"till-{number}")
            async with machine.opened(clone) as yielding:
                await yielding.closed()
        told = await reason(service)
        assert told.startswith("connected, but 2 other hosts come with its token (till-2, till-3)")
        assert told.endswith("delete the token's file, and join with a code")
        assert told.removeprefix("connected, but ") in caplog.text
        assert sum("with its token" in line for line in caplog.messages) == 3
        found = (await service.get("/v1/machines?state=online&search=clones%20till-3")).json
        assert found["total"] == 1
        for number in range(2 * MOST_RIVALS):
            live.met(Rival(boot_id=str(number), host=f"host-{number}"))
        assert len(live.rivals) == MOST_RIVALS
        assert "49 or more other hosts" in await reason(service)
        await link.obeys(machine.moving())


async def test_restarted_client_is_no_clone(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(hello(host="till-1")):
        before = await machine.until_live()
        # The host was renamed, and booted, before its earlier connection was missed.
        async with machine.connected(hello(boot_id="another", host="till-2", sequence=1)):
            await until(lambda: service.link_of("desk-1") not in (before, None))
            assert await reason(service) == "connected, and took over from an earlier connection"


async def reason(service: Service) -> str:
    return str((await service.get("/v1/machines/desk-1")).json["reason"])


async def test_yielding_client_is_admitted_when_nobody_has_the_link(service: Service) -> None:
    async with service.joined() as (machine, _):
        pass
    await machine.until_gone()
    async with machine.connected(hello(yields=True, sequence=1)) as link:
        await link.obeys(machine.moving())


async def test_yielding_client_leaves_one_that_has_only_greeted_alone(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.open_websocket() as websocket, machine.open_websocket() as other:
        greeting, yielding = ScriptedLink(websocket), ScriptedLink(other)
        await greeting.say(hello())
        await greeting.heard(Welcome)
        await yielding.say(YIELDING)
        assert (await yielding.closed())[0] == CloseCode.TAKEN_OVER
        await greeting.ready()
        await machine.until_live()


async def test_of_two_yielding_clients_one_has_the_link(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.open_websocket() as first, machine.open_websocket() as second:
        links = [ScriptedLink(first), ScriptedLink(second)]
        await asyncio.gather(*(link.say(YIELDING) for link in links))
        endings = [asyncio.create_task(link.websocket.wait_closed()) for link in links]  # noqa: TID251
        done, _ = await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        (loser,) = (link for link, ending in zip(links, endings, strict=True) if ending in done)
        (winner,) = (link for link in links if link is not loser)
        assert loser.websocket.close_code == CloseCode.TAKEN_OVER
        await winner.heard(Welcome)
        await winner.ready()
        await machine.until_live()
        for ending in endings:
            ending.cancel()


async def test_newcomer_takes_over_from_one_that_has_yielded_before(service: Service) -> None:
    """Once it has the link it is one like any other."""
    async with service.joined(YIELDING) as (machine, older):
        first = await machine.until_live()
        async with machine.connected(wait_until_live=False):
            assert (await older.closed())[0] == CloseCode.TAKEN_OVER
            await until(lambda: service.link_of("desk-1") not in (None, first))
            reply = await service.get("/v1/machines/desk-1")
            assert "took over" in reply.json["reason"]


async def test_client_that_has_not_greeted_yet_is_not_told_to_stop(service: Service) -> None:
    machine, registry = await service.new_machine(), service.server.services.machines.registry
    async with machine.open_websocket() as websocket:
        await until(lambda: registry.open_links == 1)
        async with machine.connected():
            assert (await ScriptedLink(websocket).closed())[0] == CloseCode.TAKEN_OVER


async def test_yielding_client_of_another_machine_is_admitted(service: Service) -> None:
    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected(), other.connected(YIELDING) as link:
        await link.obeys(other.moving())
