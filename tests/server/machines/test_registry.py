"""Links on real websockets, and what the server knows of them."""

from datetime import UTC, datetime

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input, Welcome
from schemas.resources.tokens import Scope
from tests.links import hello, let_time_pass
from tests.service import ScriptedLink, ScriptedMachine, Service, until


async def test_greeted_machine_takes_inputs(service: Service, machine: ScriptedMachine) -> None:
    assert service.link_of("desk-1") is None
    async with machine.connected(hello(sequence=5)):
        link = await machine.until_live()
        assert link.is_up
        stored = await service.stores.machines.get(service.organization_id, "desk-1")
        assert stored is not None
        assert stored.epoch == link.epoch == 1
    await machine.until_gone()
    assert service.link_of("desk-1") is None


async def test_link_that_is_closing_takes_nothing_while_its_websocket_still_ends(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected():
        live = await machine.until_live()
        live.close(CloseCode.SERVER_ERROR, "in the midst of it")
        assert live in set(service.server.services.machines.registry)
        assert service.link_of("desk-1") is None
        assert (await service.get("/v1/machines/desk-1")).json["state"] == "offline"


async def test_welcome_names_the_link_and_its_limits(machine: ScriptedMachine) -> None:
    async with machine.opened(hello()) as link:
        welcome = await link.heard(Welcome)
        await link.ready()
        live = await machine.until_live()
        assert welcome.link_id == live.link_id
        assert welcome.machine_id == "desk-1"
        assert welcome.limits.unanswered_inputs == 64


async def test_newest_link_wins_and_the_older_is_told_why(service: Service) -> None:
    async with service.joined() as (machine, older):
        first = await machine.until_live()
        async with machine.connected(wait_until_live=False) as newer:
            code, reason = await older.closed()
            assert code == CloseCode.TAKEN_OVER
            assert "token of its own" in reason
            await until(lambda: service.link_of("desk-1") not in (None, first))
            await newer.obeys(machine.moving())


async def test_end_of_a_replaced_link_does_not_make_the_machine_offline(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as older, machine.connected(wait_until_live=False):
        await older.closed()
        await until(lambda: len(list(service.server.services.machines.registry)) == 1)
        stored = await service.stores.machines.get(service.organization_id, "desk-1")
        assert stored is not None
        assert stored.disconnected_at is None
        assert stored.epoch == 2


async def test_late_end_of_a_replaced_link_leaves_the_newest_alone(service: Service) -> None:
    async with service.joined() as (machine, older):
        first = await machine.until_live()
        # Its answer to the closing comes only after the newer link is there.
        older.websocket.transport.pause_reading()
        async with machine.connected(wait_until_live=False):
            await until(lambda: service.link_of("desk-1") not in (None, first))
            newest = service.link_of("desk-1")
            assert first in set(service.server.services.machines.registry)
            older.websocket.transport.resume_reading()
            await until(lambda: first not in set(service.server.services.machines.registry))
            assert service.link_of("desk-1") is newest


async def test_same_machine_id_in_two_organizations_are_two_machines(service: Service) -> None:
    machine = await service.new_machine()
    other = await (await service.elsewhere()).new_machine()
    async with machine.connected() as link, other.connected() as other_link:
        await other_link.obeys(other.moving())
        await link.nothing_heard()


async def test_revoked_token_closes_its_link_within_the_check_time(service: Service) -> None:
    machine = await service.new_machine()
    tokens = service.stores.tokens
    async with machine.connected() as link:
        await tokens.revoke_of_machine(service.organization_id, "desk-1")
        code, reason = await link.closed()
        assert code == CloseCode.TOKEN_REVOKED
        assert "revoked" in reason


async def test_other_links_survive_the_revocation_of_one_token(service: Service) -> None:
    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected() as link, other.connected() as other_link:
        await service.stores.tokens.revoke_of_machine(service.organization_id, "desk-1")
        await link.closed()
        await other_link.obeys(other.moving())


async def test_removed_machine_is_told_to_stop(service: Service, link: ScriptedLink) -> None:
    assert (await service.request("DELETE", "/v1/machines/desk-1")).status == 204
    assert await link.closed() == (CloseCode.MACHINE_REMOVED, "this machine was removed")


async def test_token_of_a_removed_machine_opens_no_link(service: Service) -> None:
    machine = await service.new_machine()
    await service.stores.machines.delete(service.organization_id, "desk-1")
    async with machine.opened(hello()) as link:
        assert (await link.closed())[0] == CloseCode.MACHINE_REMOVED


async def test_client_of_another_version_is_refused_in_words(machine: ScriptedMachine) -> None:
    async with machine.opened() as link:
        await link.say(hello(protocols=[99]))
        code, reason = await link.closed()
        assert code == CloseCode.PROTOCOL_UNSUPPORTED
        assert "the server is too old" in reason


async def test_message_above_the_limit_ends_the_link(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        await link.websocket.send("x" * (256 * 1024 + 1))
        await link.closed()
    await machine.until_gone()


async def test_silent_machine_is_disconnected_and_its_input_pending(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        live = await machine.until_live()
        sending = machine.moving()
        await link.heard(Input)
        for _ in range(2):
            let_time_pass(live, service.server.services.settings.heartbeat)
            await until(lambda: live.is_over or live._link.heartbeats.is_awaited)
        code, _ = await link.closed()
        assert code == CloseCode.HEARTBEAT_MISSED
        assert (await sending).refusal == (504, "outcome-pending")


async def test_heartbeats_measure_the_round_trip(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.opened(hello()) as link:
        await link.heard(Welcome)
        await link.ready()
        assert service.server.services.settings.heartbeat == 20
        live = await machine.until_live()
        await until(lambda: live.round_trip_seconds is not None)


@pytest.mark.own_server
async def test_expired_token_closes_its_link(service: Service) -> None:
    machine = await service.new_machine()
    token = await service.new_token(Scope.MACHINE_CONNECT, machine_id="desk-1")
    machine.token = token
    async with machine.connected() as link:
        database = service.server.services.operation.database
        live = await machine.until_live()
        await database.collection("tokens").update_one(
            {"_id": live.token_id}, {"$set": {"expires_at": datetime.now(UTC)}}
        )
        assert (await link.closed())[0] == CloseCode.TOKEN_REVOKED
