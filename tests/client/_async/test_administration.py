"""Machines, tokens, organizations and the audit by the library, on a real server."""

from datetime import UTC, datetime, timedelta

import pytest

import farhand
from farhand import AsyncFarhand
from tests.service import Service


async def ended(client: AsyncFarhand) -> None:
    """Call until that fails."""
    while True:
        await client.machine("reception").get()


async def test_fleet_and_its_people(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        machine = await client.machines.add("reception", name="Reception")
        assert machine.token.token.startswith("fh_")
        assert machine.token.token not in repr(machine)
        assert [each.id async for each in client.machines.list()] == ["reception"]
        with pytest.raises(farhand.AlreadyExists):
            await client.machines.add("reception")
        organization = await client.organizations.add("A customer")
        ends = datetime.now(UTC) + timedelta(days=1)
        made = await client.tokens.create(
            "theirs", role="viewer", organization_id=organization.id, expires_at=ends
        )
        assert made.role == "viewer"
        own = await client.tokens.create("ours", scopes=["machines:read"])
        assert (await client.tokens.get(own.id)).scopes == ["machines:read"]
        names = {each.name async for each in client.tokens.list()}
        assert "ours" in {each.name async for each in client.tokens.list(of_machines=False)}
        assert "ours" not in {each.name async for each in client.tokens.list(of_machines=True)}
        assert "ours" in names
        async with AsyncFarhand(service.url, own.token) as reader:
            with pytest.raises(farhand.Forbidden, match="machines:write"):
                await reader.machines.add()
            await client.tokens.revoke(own.id)
            # Within a second, everywhere.
            with pytest.raises(farhand.Unauthenticated):
                await ended(reader)
        actions = [each.action async for each in client.audit.list(limit=3)]
        assert actions[0] == "token.revoked"
        assert len(actions) == 3
        assert organization.id in [each.id async for each in client.organizations.list()]
        with pytest.raises(farhand.NotFound):
            await client.commands.get("00000000-0000-4000-8000-000000000000")


async def test_sessions_of_the_console_are_listed_and_ended(service: Service) -> None:
    begun = await service.server.services.access.sessions.begin(service.token, "192.0.2.1", "a cat")
    async with AsyncFarhand(service.url, service.token) as client:
        [session] = [each async for each in client.console_sessions.list()]
        assert (session.user_agent, session.current) == ("a cat", False)
        of_token = client.console_sessions.list(token_id=begun.principal.token_id)
        assert [each.id async for each in of_token] == [session.id]
        await client.console_sessions.end(session.id)
        assert [each async for each in client.console_sessions.list()] == []
        with pytest.raises(farhand.NotFound):
            await client.console_sessions.end(session.id)


async def test_machines_are_found_and_changed_together(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        berlin = await client.pools.add("Berlin", description="the tills")
        await client.machines.add("till-1", tags=["till"], pool_ids=[berlin.id])
        await client.machines.add("till-2", tags=["till"])
        added = await client.machines.bulk("add_to_pool", tag="till", pool_id=berlin.id)
        assert (added.done, added.failed) == (2, 0)
        assert (await client.pools.get(berlin.id)).machines == 2
        paused = await client.machines.bulk("pause", ["till-2", "nowhere"], reason="the printer")
        assert [each.status for each in paused.items] == ["done", "not_found"]
        found = client.machines.list(pool=["Berlin"], state=["paused", "online"], sort="-name")
        assert [each.id async for each in found] == ["till-2"]
        counts = await client.machines.counts(tag="till")
        assert (counts.paused, counts.offline, counts.not_set_up) == (1, 1, 1)
        assert await client.machines.tags(state="paused") == {"till": 1}
        assert (await client.machine("till-1").tag("spare", "till")).tags == ["spare", "till"]
        assert (await client.pools.change(berlin.id, name="Potsdam")).description == "the tills"
        assert [each.name async for each in client.pools.list()] == ["Potsdam"]
        await client.pools.remove(berlin.id)
        assert (await client.machine("till-1").get()).pools == []


async def test_hosts_are_invited(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        made = await client.invitations.create(name="Berlin", uses=3, approval=True)
        assert made.code.startswith("fhj_")
        assert made.code not in repr(made)
        assert [each.id async for each in client.invitations.list()] == [made.id]
        assert (await client.invitations.get(made.id)).uses == 3
        assert [each async for each in client.invitations.joins(made.id)] == []
        with pytest.raises(farhand.NotFound):
            await client.invitations.decide(made.id, made.id, approved=True)
        await client.invitations.revoke(made.id)
        assert [each async for each in client.invitations.list()] == []
