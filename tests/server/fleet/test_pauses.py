"""Pauses end by themselves."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from schemas.link.messages import Interrupt
from schemas.values.times import format_time
from server.errors import StoreUnavailable
from server.store.machines.documents import PauseDetails
from server.store.machines.pauses import PauseStore
from server.store.times import now
from tests.links import COMPLETED
from tests.service import PATIENCE_SECONDS, Service, until

BRIEFLY = timedelta(seconds=0.4)


async def pause(service: Service, machine_id: str, length: timedelta) -> None:
    """Pause a machine for so long; longer where that is over before the server hears of it."""
    reply = None
    while reply is None or reply.status == 422:
        end = format_time(datetime.now(UTC) + length)
        body = {"paused": True, "pause_until": end}
        reply = await service.request("PATCH", f"/v1/machines/{machine_id}", body)
        length *= 2
    assert (reply.status, reply.json["pause"]["until"]) == (200, end)


async def until_it_is(ask: Callable[[], Awaitable[object]], wanted: object) -> None:
    """Ask again until the answer is the wanted one; fails after PATIENCE_SECONDS."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await ask() != wanted:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.02)


async def actions(service: Service) -> list[tuple[str, str | None]]:
    entries = (await service.get("/v1/audit?action=machine")).json["items"]
    return [(entry["action"], entry["token_name"]) for entry in reversed(entries)]


async def is_paused(service: Service, machine_id: str = "desk-1") -> bool:
    return bool((await service.get(f"/v1/machines/{machine_id}")).json["paused"])


async def test_machine_takes_inputs_again_when_its_pause_is_over(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever pauses is heard, and not found in the next look.
    monkeypatch.setattr("server.fleet.pauses.POLL_SECONDS", 3600.0)
    service.server.services.machines.pauses.look_soon()
    machine = await service.new_machine()
    async with machine.connected() as link:
        live = await machine.until_live()
        await pause(service, "desk-1", timedelta(hours=1))
        assert (await machine.move()).json["reason"] == "paused"
        assert isinstance(await link.next_message(), Interrupt)
        await pause(service, "desk-1", BRIEFLY)
        await until(lambda: live.availability.restrictions.pause is None)
        sending = service.server.services.background.start(machine.move(), "move")
        await link.obey(COMPLETED)
        assert (await sending).status == 200
    assert not await is_paused(service)
    ended = ("machine.pause_ended", "administrator")
    await until_it_is(lambda: actions(service), [*[("machine.paused", "administrator")] * 2, ended])


async def test_machine_that_is_not_connected_is_not_paused_any_more_either(
    service: Service,
) -> None:
    await service.new_machine()
    await pause(service, "desk-1", BRIEFLY)
    await until_it_is(lambda: is_paused(service), False)
    assert (await service.get("/v1/machines/desk-1")).json["state"] == "offline"


async def test_pause_that_was_made_longer_goes_on(service: Service) -> None:
    for machine_id in ("desk-1", "desk-2", "desk-3"):
        await service.new_machine(machine_id)
        await pause(service, machine_id, BRIEFLY)
    await pause(service, "desk-2", timedelta(hours=1))
    await service.request("PATCH", "/v1/machines/desk-3", {"paused": True})
    await until_it_is(lambda: is_paused(service, "desk-1"), False)
    assert await is_paused(service, "desk-2")
    assert await is_paused(service, "desk-3")


async def test_pause_that_this_node_was_not_told_of_ends_too(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.fleet.pauses.POLL_SECONDS", 0.05)
    service.server.services.machines.pauses.look_soon()
    await service.new_machine()
    over = PauseDetails("Ada", until=now() - timedelta(seconds=1))
    machines = service.stores.machines
    await machines.change(service.organization_id, "desk-1", paused=True, details=over)
    await until_it_is(lambda: actions(service), [("machine.pause_ended", "Ada")])
    assert not await is_paused(service)


async def test_pause_ends_once_the_database_answers_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(_: PauseStore) -> None:
        tried.set()
        raise StoreUnavailable("The database does not answer.")

    tried = asyncio.Event()
    monkeypatch.setattr("server.fleet.pauses.AGAIN_SECONDS", 0.05)
    await service.new_machine()
    with monkeypatch.context() as patch:
        patch.setattr(PauseStore, "first_to_end", unanswered)
        await pause(service, "desk-1", BRIEFLY)
        await tried.wait()
    await until_it_is(lambda: is_paused(service), False)
