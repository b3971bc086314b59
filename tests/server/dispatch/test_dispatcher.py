"""Which link carries a command, and why none does."""

import asyncio
from typing import Any

import pytest

from schemas.http.problems import ProblemError
from schemas.link.messages import Input, Resolve
from server.dispatch.handover import HandoverWait
from tests.commands import accepted, answered, answering, kept_as_sent, problem_of
from tests.links import COMPLETED, hello
from tests.service import Service, new_key


async def refused(service: Service) -> tuple[str, dict[str, Any]]:
    """The problem that a command meets now, and its members."""
    with pytest.raises(ProblemError) as caught:
        await answered(service, accepted(service))
    return caught.value.problem_type.name, {**caught.value.members, "detail": caught.value.detail}


async def test_unknown_machine_and_one_of_another_organization_are_alike(
    service: Service,
) -> None:
    unknown = await refused(service)
    other = await service.elsewhere()
    async with other.joined():
        assert await refused(service) == unknown
    assert unknown[0] == "not-found"


async def test_machine_that_never_connected_is_offline_since_it_was_made(
    service: Service,
) -> None:
    await service.new_machine()
    name, members = await refused(service)
    assert name == "machine-unavailable"
    assert members["reason"] == "offline"
    assert "never connected" in members["detail"]
    view = (await service.get("/v1/machines/desk-1")).json
    assert members["since"] == view["created_at"]


async def test_paused_machine_takes_nothing_until_it_is_resumed(service: Service) -> None:
    async with service.joined() as (_, link):
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        name, members = await refused(service)
        assert (name, members["reason"]) == ("machine-unavailable", "paused")
        await link.interrupted()
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        waiting = answering(service, accepted(service))
        await link.obey()
        assert (await waiting)[0].status == 200


async def test_machine_that_cannot_inject_says_why(service: Service) -> None:
    async with service.joined(hello(no_input="no display is open")):
        name, members = await refused(service)
        assert (name, members["reason"]) == ("machine-unavailable", "no_input")
        assert "no display is open" in members["detail"]


async def test_outcome_is_waited_for_until_the_answer_is_due(service: Service) -> None:
    async with service.joined() as (machine, link):
        live = await machine.until_live()
        waiting = answering(service, accepted(service))
        await link.obey(COMPLETED)
        assert (await waiting)[0].status == 200
        late = answering(service, accepted(service, timeout=0.1))
        assert await problem_of(late) == "outcome-pending"
        # The acknowledgement still belongs to the link, however late.
        heard = await link.heard(Input)
        await link.acknowledge(heard.command_id)
        await link.nothing_heard()
        assert live.unanswered == 0


async def test_command_waits_for_its_link_to_be_live_no_longer_than_it_may_begin(
    service: Service,
) -> None:
    machine = await service.new_machine()
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        up = await machine.until_up()
        assert not up.is_live
        late = answering(service, accepted(service, timeout=0.1))
        assert (await late)[0].status == 504
        in_time = answering(service, accepted(service))
        question = await link.heard(Resolve)
        await link.report(question.command_id, COMPLETED)
        await link.obey()
        assert (await in_time)[0].status == 200
        assert up.is_live


async def test_machine_that_moves_is_not_waited_for_beyond_the_time_of_the_input(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def always(*_: object) -> bool:
        await asyncio.sleep(0.01)
        return True

    monkeypatch.setattr(HandoverWait, "wait", always)
    await service.new_machine()
    async with asyncio.timeout(10):
        waiting = answering(service, accepted(service, timeout=0.1))
        assert await problem_of(waiting) == "machine-unavailable"
