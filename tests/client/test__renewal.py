"""A lease is renewed for as long as it is held, in both kinds of program, and then no more."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from farhand import AsyncFarhand, Farhand, _renewal
from tests.client.scripted_server import ScriptedServer, answer, problem, scripted_server
from tests.processes import until
from tests.service import PATIENCE_SECONDS

LEASE = answer(
    201,
    {
        "id": "lease-1",
        "machine_id": "reception",
        "by": "agent",
        "since": "2026-11-21T09:30:00.120Z",
        "expires_at": "2026-11-21T09:30:30.120Z",
        "private": False,
    },
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr(_renewal, "RENEW_SECONDS", 0.01)
    with scripted_server(LEASE) as server:
        yield server


def renewals(server: ScriptedServer) -> int:
    return [each.method for each in server.asked].count("PUT")


def check(server: ScriptedServer) -> None:
    """The lease was taken first and given back last, and asked for by its address between."""
    methods = [each.method for each in server.asked]
    assert methods == ["POST", *["PUT"] * renewals(server), "DELETE"]
    assert {each.path for each in server.asked[1:]} == {"/v1/machines/reception/control/lease-1"}


def test_program_with_threads(server: ScriptedServer) -> None:
    with Farhand(server.url, "fh_t") as client, client.machine("reception").control():
        until(lambda: renewals(server) > 2, "the lease is renewed")
    check(server)


async def test_program_with_an_event_loop(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if renewals(server) > 2:
            # One that is given up on its way may come to the server after all others.
            rests.set()
            seconds = 3600.0
        await asyncio.sleep(seconds)

    used = SimpleNamespace(
        get_running_loop=asyncio.get_running_loop, gather=asyncio.gather, sleep=sleep
    )
    monkeypatch.setattr(_renewal, "asyncio", used)
    async with AsyncFarhand(server.url, "fh_t") as client, client.machine("reception").control():
        async with asyncio.timeout(PATIENCE_SECONDS):
            await rests.wait()
    check(server)


def test_lease_that_is_over_is_not_renewed(server: ScriptedServer) -> None:
    server.answers[:] = [LEASE, problem("not-found", 404)]
    with Farhand(server.url, "fh_t") as client, client.machine("reception").control():
        until(lambda: renewals(server) == 1, "a renewal is refused")
    check(server)
    assert renewals(server) == 1
