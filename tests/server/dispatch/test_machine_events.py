"""What is told of machines that change, beside what the stream's own tests see."""

import json

import pytest

from schemas.link.messages import Released, Welcome
from server.dispatch import machine_events as news_module
from server.errors import StoreUnavailable
from server.events.event import Event, Subscription
from server.store.machines.machines import MachineStore
from tests.links import hello
from tests.service import Service, until


async def listener(service: Service) -> Subscription:
    """Hears everything of the test's organization."""

    def everything(_: Event) -> bool:
        return True

    return await service.server.services.events.subscribe(service.organization_id, None, everything)


def told(subscription: Subscription) -> list[tuple[str, str | None]]:
    """Type and machine of what was told."""
    return [(event.type, event.machine_id) for event in subscription.take(100)]


async def test_changes_in_the_same_moment_are_told_once(service: Service) -> None:
    await service.new_machine()
    news, heard = service.server.services.machines.events, await listener(service)
    for _ in range(10):
        news.changed(service.organization_id, "desk-1")
    news.changed(service.organization_id, "gone")
    await until(lambda: len(heard._events) == 2)
    # In either order: they are read at the same time.
    assert sorted(told(heard)) == [("machine", "desk-1"), ("machine_removed", "gone")]


async def test_what_a_machine_released_is_told_and_logged(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await service.new_machine()
    heard = await listener(service)
    greeting = hello(released=Released(buttons=["left"], keys=2))
    async with machine.connected(greeting):
        events = [each for each in heard.take(100) if each.type == "machine_released"]
    assert [json.loads(each.data) for each in events] == [
        {"id": "desk-1", "buttons": ["left"], "keys": 2}
    ]
    (said,) = [each for each in caplog.messages if "left pressed" in each]
    assert said.endswith("left pressed: buttons=left keys=2")


async def test_what_a_machine_released_is_told_before_it_is_welcomed(service: Service) -> None:
    """From then on the machine client says it no more, whatever becomes of this link."""
    machine = await service.new_machine()
    heard = await listener(service)
    async with machine.opened() as link:
        await link.say(hello(released=Released(buttons=["left"], keys=2)))
        await link.heard(Welcome)
        events = [each for each in heard.take(100) if each.type == "machine_released"]
    assert len(events) == 1


async def test_change_is_told_once_the_database_answers_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news_module, "RETRY_SECONDS", 0.01)
    await service.new_machine()
    real, failures = MachineStore.get, iter(range(3))

    async def get(store: MachineStore, *arguments: object) -> object:
        if next(failures, None) is not None:
            raise StoreUnavailable("The database does not answer.")
        return await real(store, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(MachineStore, "get", get)
    heard = await listener(service)
    service.server.services.machines.events.changed(service.organization_id, "desk-1")
    await until(lambda: heard._events)
    assert told(heard) == [("machine", "desk-1")]
