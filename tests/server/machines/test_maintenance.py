"""What watches the links while they live, when something else is slow or broken."""

import logging
from pathlib import Path
from uuid import UUID

import pytest

from schemas.link.close_codes import CloseCode
from schemas.programs import pauses
from server.machines.socket import LinkSocket
from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.identity.tokens import TokenStore
from tests.links import let_time_pass
from tests.processes import go_on, stop
from tests.service import Service, running_service, until


async def test_heartbeats_go_on_while_the_database_stands_still(
    io_loop: object, tmp_path: Path
) -> None:
    embedded = EmbeddedMongoDB(tmp_path / "mongodb")
    uri = await embedded.start()
    async with running_service(uri, tmp_path / "data", token_check=0.1) as service:
        machine, database = await service.new_machine(), service.server.services.operation.database
        async with machine.connected() as link:
            live = await machine.until_live()
            assert embedded.pid is not None
            stop(embedded.pid)
            try:
                for _ in range(3):
                    let_time_pass(live, service.server.services.settings.heartbeat)
                    await link.mark()
                    await until(lambda: not live._link.heartbeats.is_awaited)
                # The token check, which began meanwhile, still waits for its first answer.
                assert database.failures == 0
            finally:
                go_on(embedded.pid)
            assert not live.is_over
    await embedded.stop()


@pytest.mark.parametrize("settings", [{"token_check": 0.05}])
async def test_token_check_that_fails_in_an_unforeseen_way_goes_on(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.01)
    failures, real = 0, TokenStore.revoked_within

    async def fail_first(store: TokenStore, seconds: float) -> set[UUID]:
        nonlocal failures
        if failures < 2:
            failures += 1
            raise ZeroDivisionError
        return await real(store, seconds)

    monkeypatch.setattr(TokenStore, "revoked_within", fail_first)
    async with service.joined() as (_, link):
        await until(lambda: failures == 2)
        await service.stores.tokens.revoke_of_machine(service.organization_id, "desk-1")
        assert (await link.closed())[0] == CloseCode.TOKEN_REVOKED
    assert service.server.services.background.failures["check the tokens of links"] == 2
    assert "task check the tokens of links failed" in caplog.text


async def test_link_that_cannot_be_ticked_holds_up_no_other(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected(), other.connected():
        broken, whole, ticked = await machine.until_live(), await other.until_live(), 0
        real, heartbeat = LinkSocket.tick, service.server.services.settings.heartbeat

        def tick(link: LinkSocket) -> None:
            nonlocal ticked
            if link is broken:
                raise ZeroDivisionError
            real(link)
            ticked += link is whole

        with caplog.at_level(logging.ERROR):
            monkeypatch.setattr(LinkSocket, "tick", tick)
            for times in (1, 2):
                for link in (broken, whole):
                    let_time_pass(link, heartbeat)
                await until(lambda: ticked >= times)  # noqa: B023 - awaited
    assert "machine=desk-1 link could not be ticked" in caplog.text
    await machine.until_closed()


async def test_nothing_is_kept_of_a_machine_whose_links_have_ended(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(), machine.connected(wait_until_live=False):
        pass
    await machine.until_closed()
    assert not service.server.services.machines.registry._open_of
